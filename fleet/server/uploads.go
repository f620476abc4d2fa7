package server

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
)

// offset tells how far an upload is.
func (h *runsHandler) offset(w http.ResponseWriter, r *http.Request) {
	writeProgress(w, h.store.Offset(r.Header.Get("X-Scope-OrgID"), r.PathValue("id")))
	w.WriteHeader(http.StatusNoContent)
}

func writeProgress(w http.ResponseWriter, p runs.Progress) {
	complete := "?0"
	if p.Run != nil {
		complete = "?1"
	}
	w.Header().Set(api.OffsetHeader, strconv.FormatInt(p.Have, 10))
	w.Header().Set(api.CompleteHeader, complete)
	w.Header().Set("Cache-Control", "no-store")
}

// resume appends to an upload. It answers 204 while more is to come, and then as take.
func (h *runsHandler) resume(w http.ResponseWriter, r *http.Request) {
	from, err := size(r, api.OffsetHeader)
	total, terr := size(r, api.LengthHeader)
	if err = errors.Join(err, terr); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if t := r.Header.Get("Content-Type"); t != api.PieceType {
		refuse(w, http.StatusUnsupportedMediaType, "a piece of a recording is "+api.PieceType)
		return
	}
	about := recordingOf(r)
	about.ID = r.PathValue("id")
	h.receive(w, r, func(in *patient) {
		p, err := h.store.Resume(in, runs.Upload{Offset: from, Total: total, About: about})
		_ = in.control.SetWriteDeadline(time.Now().Add(writeTime))
		var offset *runs.OffsetError
		switch {
		case err == nil && p.Run == nil:
			writeProgress(w, p)
			w.WriteHeader(http.StatusNoContent)
		case err == nil:
			writeProgress(w, p)
			h.taken(w, *p.Run, p.Old)
		case errors.As(err, &offset):
			writeProgress(w, runs.Progress{Have: offset.Have})
			refuse(w, http.StatusConflict, err.Error())
		default:
			h.refused(w, err)
		}
	})
}

// size returns a header that counts bytes.
func size(r *http.Request, header string) (int64, error) {
	n, err := strconv.ParseInt(r.Header.Get(header), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is %.40q, not a number of bytes", header, r.Header.Get(header))
	}
	return n, nil
}

// recordingOf reads what a sender says of a recording.
func recordingOf(r *http.Request) api.Recording {
	q := r.URL.Query()
	return api.Recording{Tenant: r.Header.Get("X-Scope-OrgID"), Service: q.Get("service"), Version: q.Get("version"), Instance: q.Get("instance"), Why: q.Get("why")}
}

// receive has a body taken when there is a slot for it.
func (h *runsHandler) receive(w http.ResponseWriter, r *http.Request, take func(in *patient)) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusTooManyRequests, "others send recordings now: send it again")
		return
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		refuse(w, http.StatusUnsupportedMediaType, "send the recording as it is, without Content-Encoding")
		return
	}
	control := http.NewResponseController(w)
	take(&patient{in: r.Body, control: control, begin: time.Now()})
}

// taken answers that a recording is kept.
func (h *runsHandler) taken(w http.ResponseWriter, run api.Recording, old bool) {
	if old {
		answer(w, http.StatusOK, run)
		return
	}
	h.plan.EndLease(sampling.Subject{Tenant: run.Tenant, Service: run.Service, Version: run.Version})
	answer(w, http.StatusCreated, run)
}

// refused answers that a recording is not kept, and why.
func (h *runsHandler) refused(w http.ResponseWriter, err error) {
	later := func(seconds string, status int, message string) {
		w.Header().Set("Retry-After", seconds)
		refuse(w, status, message)
	}
	switch {
	case errors.Is(err, runs.ErrLong):
		refuse(w, http.StatusRequestEntityTooLarge, err.Error())
	case errors.Is(err, runs.ErrFormat), errors.Is(err, runs.ErrHash):
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case errors.Is(err, errBody), errors.Is(err, runs.ErrID):
		refuse(w, http.StatusBadRequest, err.Error())
	case errors.Is(err, runs.ErrBusy), errors.Is(err, runs.ErrFull):
		later("5", http.StatusTooManyRequests, err.Error())
	case errors.Is(err, runs.ErrClosed):
		later("5", http.StatusServiceUnavailable, err.Error())
	default: // its text may name files of the server
		later("60", http.StatusServiceUnavailable, "the recording cannot be kept now")
	}
}

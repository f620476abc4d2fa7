package server

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// uploads is how many recordings are received at once: each is a file on the disk
	// before it is known to be one.
	uploads = 4
	// A recording of 256 MiB may take this long, and each part of it as long as any
	// request.
	uploadTime = 15 * time.Minute
	// In the mean it comes this fast after a while, in bytes a second: who sends a byte a minute
	// would have one of the few slots for all that time. A piece that is broken off goes on later.
	uploadPace, uploadGrace = 16 << 10, 30 * time.Second
	// recordingBytes is about what a recording has in a list, with what was found in it, and what
	// is written of it.
	recordingBytes = 4 << 10
)

// RunsHandler takes recordings, lists them and gives them back, and tells agents which to
// make. Profiles, which may be nil, say which services there are to record.
func RunsHandler(s *runs.Store, p *sampling.Plan, profiles store.Reader, now func() time.Time) http.Handler {
	h := &runsHandler{store: s, plan: p, there: &directory{profiles, s, p}, now: now, slots: make(chan struct{}, uploads)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+api.RunsPath, h.take)
	mux.HandleFunc("GET "+api.RunsPath, h.list)
	mux.HandleFunc("GET "+api.RunsPath+"/{id}", h.give)
	mux.HandleFunc("HEAD "+api.UploadsPath+"{id}", h.offset)
	mux.HandleFunc("PATCH "+api.UploadsPath+"{id}", h.resume)
	mux.HandleFunc("POST "+api.WantedPath, h.wanted)
	mux.HandleFunc("POST "+api.RecordPath, h.record)
	return mux
}

type runsHandler struct {
	store *runs.Store
	plan  *sampling.Plan
	there *directory
	now   func() time.Time
	slots chan struct{}
}

// take keeps the body. It answers 201, or 200 when it was here already.
func (h *runsHandler) take(w http.ResponseWriter, r *http.Request) {
	h.receive(w, r, func(in *patient) {
		run, old, err := h.store.Add(in, recordingOf(r))
		_ = in.control.SetWriteDeadline(time.Now().Add(writeTime)) // the server's own was for a request that is short
		if err != nil {
			h.refused(w, err)
			return
		}
		h.taken(w, run, old)
	})
}

var errBody = errors.New("the recording did not arrive whole")

// A patient reader gives each part of a body as long as any request has where it came as fast as
// it must, and the whole body a bound.
type patient struct {
	in      io.Reader
	control *http.ResponseController
	begin   time.Time
	n       int64 // that came
}

func (p *patient) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(p.due()) // a test's connection may have none
	n, err := p.in.Read(b)
	p.n += int64(n)
	if err != nil && err != io.EOF {
		err = errors.Join(errBody, err)
	}
	return n, err
}

// due returns when the next of it must have come.
func (p *patient) due() time.Time {
	paced := uploadGrace + time.Duration(float64(p.n)/uploadPace*float64(time.Second))
	deadline := p.begin.Add(min(paced, uploadTime))
	if soon := time.Now().Add(readTime); soon.Before(deadline) {
		return soon
	}
	return deadline
}

// list answers with the runs of a service, a version and a span of time.
func (h *runsHandler) list(w http.ResponseWriter, r *http.Request) {
	f, n, err := h.filter(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	f.Tenant = r.Header.Get("X-Scope-OrgID")
	list, more := h.store.List(f, n)
	if err := memory.More(r.Context(), recordingBytes*int64(len(list))); scarce(w, err) {
		return
	}
	answer(w, http.StatusOK, api.Recordings{Runs: append([]api.Recording{}, list...), Omitted: more})
}

func (h *runsHandler) filter(q url.Values) (f runs.Filter, n int, err error) {
	f = runs.Filter{Service: q.Get("service"), Version: q.Get("version")}
	if f.From, err = instant(q.Get("from"), h.now(), time.Time{}); err == nil {
		f.Until, err = instant(q.Get("until"), h.now(), time.Time{})
	}
	if err == nil {
		n, err = limit(q)
	}
	return f, n, err
}

// give answers with a recording.
func (h *runsHandler) give(w http.ResponseWriter, r *http.Request) {
	f, run, err := h.store.File(r.Header.Get("X-Scope-OrgID"), r.PathValue("id"))
	if errors.Is(err, runs.ErrUnknown) {
		refuse(w, http.StatusNotFound, "there is no such recording: it was dropped, or never here")
		return
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the recording cannot be read")
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/zip")
	w.Header().Set("Content-Disposition", `attachment; filename="`+run.ID[:api.ShortID]+`.gowhy"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(&slow{ResponseWriter: w, control: http.NewResponseController(w)}, r, "", run.Kept, f)
}

// A slow writer gives each part of an answer as long as any answer has.
type slow struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (s *slow) Write(b []byte) (int, error) {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTime))
	return s.ResponseWriter.Write(b)
}

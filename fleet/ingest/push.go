package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/wire"
)

// mostSeries bounds the series of a request and the samples of a series, and mostSamples all
// its samples: one of no profile has two bytes, and takes as long as a batch. Grafana Alloy
// sends one sample of one series.
const mostSeries, mostSamples = 1000, 10_000

// A pushRequest is push.v1.PushRequest.
type pushRequest struct {
	Series  []series `json:"series"`
	samples int
}

type series struct {
	Labels  []store.Label `json:"labels"`
	Samples []rawSample   `json:"samples"`
}

type rawSample struct {
	Profile []byte `json:"rawProfile"`
	// Snake is the same in the spelling of the .proto file, which JSON may have, too.
	Snake []byte `json:"raw_profile"`
}

// push serves a unary call of Connect.
func (h *handler) push(w http.ResponseWriter, r *http.Request) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/proto" && media != "application/json" {
		w.Header().Set("Accept-Post", "application/json, application/proto")
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	if err := h.pushAll(w, r, media); err != nil {
		h.connectError(w, err)
		return
	}
	w.Header().Set("Content-Type", media)
	if media == "application/json" { // the empty message is empty bytes in the other
		io.WriteString(w, "{}")
	}
}

func (h *handler) pushAll(w http.ResponseWriter, r *http.Request, media string) error {
	body, err := Body(w, r, h.options.Body)
	if err != nil {
		return err
	}
	var request pushRequest
	if media == "application/json" {
		err = request.decodeJSON(body)
	} else {
		err = request.decode(body)
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "decode the PushRequest: %w", err)
	}
	if len(request.Series) > mostSeries {
		return errSeries
	}
	tenant, left := h.options.Tenant(r), unpackedBodies*h.options.Body
	samples := 0
	for _, s := range request.Series {
		if samples += len(s.Samples); len(s.Samples) > mostSeries || samples > mostSamples {
			return errSeries
		}
	}
	for _, s := range request.Series {
		for _, sample := range s.Samples {
			u := upload{labels: s.Labels, kind: s.kind(), profile: sample.Profile}
			if u.profile == nil {
				u.profile = sample.Snake
			}
			if err := h.keep(r.Context(), tenant, u, &left); err != nil {
				return err
			}
		}
	}
	return nil
}

var errSeries = refuse(http.StatusBadRequest, "more than %d series or samples in one, or %d samples in all", mostSeries, mostSamples)

// kind returns the label __name__. Alloy calls goroutine what the SDK calls goroutines.
func (s *series) kind() string {
	for _, l := range s.Labels {
		if l.Name == labelKind && l.Value == "goroutine" {
			return "goroutines"
		} else if l.Name == labelKind {
			return l.Value
		}
	}
	return ""
}

// connectError writes an error as Connect has it: a code and a message.
func (h *handler) connectError(w http.ResponseWriter, err error) {
	status := StatusOf(err)
	h.options.RetryLater(w, status)
	writeConnectError(w, status, err)
}

func writeConnectError(w http.ResponseWriter, status int, err error) {
	code := "internal"
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		code = "invalid_argument"
	case http.StatusUnsupportedMediaType:
		code = "unimplemented"
	case http.StatusTooManyRequests, http.StatusRequestEntityTooLarge:
		code = "resource_exhausted"
	case http.StatusServiceUnavailable:
		code = "unavailable"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]string{"code": code, "message": TextOf(err)})
}

// RetryLater sets Retry-After where it helps with a status.
func (o Options) RetryLater(w http.ResponseWriter, status int) {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(o.RetryAfter.Seconds()))))
	}
}

// mostCommas bounds what JSON allocates: each element of a list but the first needs a
// comma, and two bytes of "[0,0,0" would otherwise become 48. A request with all series
// and labels that are allowed has 64,000.
const mostCommas = 100_000

func (p *pushRequest) decodeJSON(data []byte) error {
	if n := bytes.Count(data, []byte(",")); n > mostCommas {
		return fmt.Errorf("%d commas, at most %d are allowed", n, mostCommas)
	}
	return json.Unmarshal(data, p)
}

// decode reads the wire form. The profiles are parts of data, not copies.
func (p *pushRequest) decode(data []byte) error {
	return messages(data, func(number int, body []byte) error {
		if number != 1 {
			return nil
		}
		if len(p.Series) == mostSeries {
			return errSeries
		}
		p.Series = append(p.Series, series{})
		last := &p.Series[len(p.Series)-1]
		err := last.decode(body, mostSamples-p.samples)
		p.samples += len(last.Samples)
		return err
	})
}

// decode reads a series of as many samples, at most.
func (s *series) decode(data []byte, most int) error {
	return messages(data, func(number int, body []byte) error {
		switch {
		case number == 1 && len(s.Labels) == store.MostLabels:
			return fmt.Errorf("a series has more than %d labels", store.MostLabels)
		case number == 1:
			l, err := decodeLabel(body)
			s.Labels = append(s.Labels, l)
			return err
		case number == 2 && len(s.Samples) == min(mostSeries, most):
			return errSeries
		case number == 2:
			var sample rawSample
			s.Samples = append(s.Samples, sample)
			return s.Samples[len(s.Samples)-1].decode(body)
		}
		return nil
	})
}

func (s *rawSample) decode(data []byte) error {
	return messages(data, func(number int, body []byte) error {
		if number == 1 {
			s.Profile = body
		}
		return nil
	})
}

func decodeLabel(data []byte) (l store.Label, err error) {
	err = messages(data, func(number int, body []byte) error {
		switch number {
		case 1:
			l.Name = string(body)
		case 2:
			l.Value = string(body)
		}
		return nil
	})
	return l, err
}

// messages calls each with the fields that have a length and skips the others.
func messages(data []byte, each func(int, []byte) error) error {
	return wire.EachField(data, func(f wire.Field) error {
		if f.Kind != wire.Bytes {
			return nil
		}
		return each(f.Number, f.Body)
	})
}

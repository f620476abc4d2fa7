package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// ingest serves the protocol that SDKs speak.
func (h *handler) ingest(w http.ResponseWriter, r *http.Request) {
	u, err := h.uploadOf(w, r)
	if err == nil {
		left := unpackedBodies * h.options.Body
		err = h.keep(r.Context(), h.options.Tenant(r), u, &left)
	}
	if err != nil {
		h.options.RetryLater(w, StatusOf(err))
		http.Error(w, TextOf(err), StatusOf(err))
	}
}

func (h *handler) uploadOf(w http.ResponseWriter, r *http.Request) (u upload, err error) {
	query := r.URL.Query()
	if format := query.Get("format"); format != "" && format != "pprof" {
		return u, refuse(http.StatusBadRequest, "format %.20q is not pprof", format)
	}
	if u.labels, err = appOf(query.Get("name")); err != nil {
		return u, err
	}
	if u.from, u.until, err = spanOf(query); err != nil {
		return u, err
	}
	body, err := Body(w, r, h.options.Body)
	if err != nil {
		return u, err
	}
	media, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "multipart/form-data" {
		u.profile = body
		return u, nil
	}
	return u, u.parts(multipart.NewReader(bytes.NewReader(body), parameters["boundary"]))
}

// parts reads a form, whose bytes are bounded already.
func (u *upload) parts(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return refuse(http.StatusBadRequest, "read the form: %w", err)
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return refuse(http.StatusBadRequest, "read part %.40q: %w", part.FormName(), err)
		}
		if err := u.part(part.FormName(), data); err != nil {
			return err
		}
	}
	if u.profile == nil {
		return refuse(http.StatusBadRequest, "the form has no part profile")
	}
	return nil
}

func (u *upload) part(name string, data []byte) error {
	switch name {
	case "profile":
		u.profile = data
	case "prev_profile":
		// Its client expects the server to subtract; current SDKs send differences.
		return refuse(http.StatusBadRequest, "prev_profile is not supported: update the SDK to one that sends deltas")
	case "sample_type_config":
		kind, err := configured(data)
		u.kind = kind
		return err
	}
	return nil
}

// longestConfig is of the part that says which types a profile has, an SDK's of four some 500
// bytes: it becomes a map, of ten times its bytes.
const longestConfig = 64 << 10

// configured returns the kind of a profile by its client's display names: only they tell
// mutexes (mutex_count) from blocking (block_count).
func configured(data []byte) (string, error) {
	if len(data) > longestConfig {
		return "", refuse(http.StatusBadRequest, "sample_type_config has %d bytes, %d are the most", len(data), longestConfig)
	}
	var config map[string]struct {
		DisplayName string `json:"display-name"`
	}
	if err := json.Unmarshal(data, &config); err != nil {
		return "", refuse(http.StatusBadRequest, "decode sample_type_config: %w", err)
	}
	var kinds []string
	for sampleType, c := range config {
		for _, name := range []string{c.DisplayName, sampleType} {
			if kind := KindOf(name); kind != "" {
				kinds = append(kinds, kind)
			}
		}
	}
	if len(kinds) == 0 {
		return "", nil
	}
	return slices.Min(kinds), nil // the same for each order of the map
}

// mostCut is more than any SDK's interval.
const mostCut = 5 * time.Minute

// spanOf reads from and until; zero where they are missing.
func spanOf(query url.Values) (from, until time.Time, err error) {
	if from, err = instant(query.Get("from")); err != nil {
		return from, until, err
	}
	if until, err = instant(query.Get("until")); err != nil {
		return from, until, err
	}
	// The SDK cuts until to its interval: what it sends when it ends is until before from.
	if until.Before(from) && from.Sub(until) <= mostCut {
		from = until
	}
	if from.IsZero() != until.IsZero() || until.Before(from) {
		err = refuse(http.StatusBadRequest, "from and until are no span of time")
	}
	return from, until, err
}

// instant reads seconds, milliseconds, microseconds or nanoseconds since 1970: SDKs
// disagree, and for any time from 1973 to 5138 the number of digits tells them apart.
func instant(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}, refuse(http.StatusBadRequest, "time %.40q is no number above 0", s)
	}
	switch {
	case n < 1e11:
		return time.Unix(n, 0), nil
	case n < 1e14:
		return time.UnixMilli(n), nil
	case n < 1e17:
		return time.UnixMicro(n), nil
	}
	return time.Unix(0, n), nil
}

package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/profiles"
)

// Body is the whole body of a request without its Content-Encoding; most bounds both forms.
func Body(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	encoding := r.Header.Get("Content-Encoding")
	if encoding != "" && encoding != "identity" && encoding != "gzip" {
		return nil, refuse(http.StatusUnsupportedMediaType, "Content-Encoding %.20q is neither gzip nor identity", encoding)
	}
	data, err := Raw(w, r, most)
	if err != nil || encoding != "gzip" {
		return data, err
	}
	return Unpack(r.Context(), data, most)
}

// Raw is a body as it came, of most bytes.
func Raw(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	var out bytes.Buffer
	if r.ContentLength > 0 { // one byte more, or it grows to look for the end
		out.Grow(int(min(r.ContentLength, most)) + bytes.MinRead)
	}
	_, err := out.ReadFrom(http.MaxBytesReader(w, r.Body, most))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", most)
	case errors.Is(err, memory.ErrBusy), errors.Is(err, memory.ErrLarge):
		return nil, err
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "read the body: %w", err)
	}
	return out.Bytes(), nil
}

// Unpack is a body without gzip, on the grant of its request.
func Unpack(ctx context.Context, data []byte, most int64) ([]byte, error) {
	if err := memory.More(ctx, copies*int64(profiles.Unpacked(data, int(most)))); err != nil {
		return nil, err
	}
	data, err := profiles.Unpack(data, int(most))
	if errors.Is(err, profiles.ErrLong) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", most)
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "unpack the body: %w", err)
	}
	return data, nil
}

// copies is how often the bytes of a request are in memory: a form's parts are copies of
// it, and what is forwarded is another.
const copies = 3

// Admit has next called when there is memory for a request's body: for all of it where its
// length is known, else as it comes. What is refused for lack of it is so before it is read.
func Admit(next http.Handler, from *memory.Pool, most int64) http.Handler {
	if from == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		granted, err := from.Take(r.Context(), least+copies*max(0, min(r.ContentLength, most)))
		if err != nil {
			if r.Context().Err() == nil {
				Options{}.Filled().refuse(w, err)
			}
			return
		}
		defer granted.Release()
		r = r.WithContext(memory.With(r.Context(), granted))
		if r.ContentLength < 0 {
			r.Body = struct {
				io.Reader
				io.Closer
			}{memory.Reader(r.Context(), r.Body, copies), r.Body}
		}
		next.ServeHTTP(w, r)
	})
}

// least is what a request has besides its body: its connection and its goroutine.
const least = 64 << 10

// refuse writes an error as those of the other ways in are.
func (o Options) refuse(w http.ResponseWriter, err error) {
	status := StatusOf(err)
	o.RetryLater(w, status)
	writeConnectError(w, status, err)
}

package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/profiles"
)

// Body returns the whole body of a request without its Content-Encoding; most bounds both forms.
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

// Raw returns a body as it came, of most bytes.
func Raw(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	var out bytes.Buffer
	body := http.MaxBytesReader(w, r.Body, most)
	length := min(r.ContentLength, most)
	out.Grow(int(max(0, min(length, head+1))) + bytes.MinRead) // or it grows to look for the end
	_, err := out.ReadFrom(io.LimitReader(body, head+1))
	if err == nil && out.Len() > head { // there is memory for the rest now
		out.Grow(int(max(0, length-head)) + bytes.MinRead)
		_, err = out.ReadFrom(body)
	}
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", most)
	case errors.Is(err, memory.ErrBusy), errors.Is(err, memory.ErrLarge):
		return nil, err
	case errors.Is(err, errSlow):
		return nil, refuse(http.StatusRequestTimeout, "%w", err)
	case err != nil:
		return nil, refuse(http.StatusBadRequest, "read the body: %w", err)
	}
	return out.Bytes(), nil
}

// Unpack returns a body without gzip, on the grant of its request.
func Unpack(ctx context.Context, data []byte, most int64) ([]byte, error) {
	if err := memory.More(ctx, copies*int64(profiles.UnpackedSize(data, int(most)))); err != nil {
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

// Room is the memory that bodies may have: Bodies for what is known to come, and Heads for the
// first of those that are large, until it has come. No body has of both for longer than it
// waits, and none that has of Bodies waits for Heads.
type Room struct {
	Heads, Bodies *memory.Pool
	Within        time.Duration // a body comes, whole
}

// Admit has next called when there is memory for a request's body. One that is large has it
// for the first of it, and for the rest when that has come: who only announces much has
// little. Of one whose length nobody says memory is taken as it comes. What is refused for
// lack of memory is so before it is read, and what is not on course to come in time is [errSlow].
func Admit(next http.Handler, in Room, most int64) http.Handler {
	if in.Bodies == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &arriving{Closer: r.Body, from: r.Body, control: http.NewResponseController(w), length: min(r.ContentLength, most), within: in.Within}
		err := b.admit(r.Context(), in)
		b.begin = time.Now()
		defer func() { b.ticket.Release(); b.granted.Release() }()
		if err != nil {
			if r.Context().Err() == nil {
				Options{}.WithDefaults().refuse(w, err)
			}
			return
		}
		r = r.WithContext(memory.With(r.Context(), b.granted))
		if b.ctx = r.Context(); b.length < 0 {
			b.from, b.length = memory.Reader(b.ctx, r.Body, copies), head
		}
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

const (
	// head is how much of a body has memory at once: nearly all of an SDK are smaller.
	head = 32 << 10
	// headTime is how long that may take of a body that is larger: less than others wait for
	// its memory. Grace is how long a body may be slower than it must in the mean: a stalled
	// network goes on within some seconds.
	headTime, grace = 2 * time.Second, 10 * time.Second
)

// errSlow is the error of a body that its client sends too slowly.
var errSlow = errors.New("the body comes too slowly")

// An arriving body takes the memory of its rest when its head has come, and fails when it
// falls behind.
type arriving struct {
	io.Closer
	from     io.Reader
	ctx      context.Context
	control  *http.ResponseController
	ticket   *memory.Grant // for its head, until it has more
	granted  *memory.Grant
	length   int64 // what counts as its length where nobody says it
	n        int64 // that have come
	begin    time.Time
	within   time.Duration
	deadline time.Time // that is set
}

func (a *arriving) admit(ctx context.Context, in Room) (err error) {
	needs := least + copies*max(0, a.length)
	if a.length <= head {
		a.granted, err = in.Bodies.Take(ctx, needs)
		return err
	}
	if err := in.Bodies.Holds(needs); err != nil {
		return err
	}
	if a.granted, err = in.Bodies.Take(ctx, 0); err == nil {
		a.ticket, err = in.Heads.Take(ctx, least+copies*head)
	}
	return err
}

func (a *arriving) Read(p []byte) (int, error) {
	switch {
	case a.ticket == nil:
	case a.n < head:
		p = p[:min(int64(len(p)), head-a.n)]
	default:
		if err := a.granted.More(a.ctx, least+copies*a.length); err != nil {
			return 0, err
		}
		a.ticket.Release()
		a.ticket, a.begin = nil, time.Now() // that it waited is no fault of its client
	}
	a.until(a.due())
	n, err := a.from.Read(p)
	a.n += int64(n)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, fmt.Errorf("%w: %d bytes, and none for too long", errSlow, a.n)
	case err != nil: // its end, as a rule: the server looks on whether its client is there, as long as it likes
		a.until(time.Time{})
	}
	return n, err
}

// due returns when the next byte must have come.
func (a *arriving) due() time.Time {
	if a.ticket != nil {
		return a.begin.Add(headTime)
	}
	part := min(1, float64(a.n+1)/float64(max(1, a.length)))
	return a.begin.Add(grace + time.Duration(part*float64(a.within-grace)))
}

// until sets a deadline, but not again for less than a second.
func (a *arriving) until(t time.Time) {
	if t.Sub(a.deadline).Abs() >= time.Second {
		a.deadline = t
		_ = a.control.SetReadDeadline(t) // a test's connection may have none
	}
}

// least is what a request has besides its body: its connection and its goroutine.
const least = 64 << 10

// refuse writes an error as those of the other ways in are.
func (o Options) refuse(w http.ResponseWriter, err error) {
	status := StatusOf(err)
	o.RetryLater(w, status)
	writeConnectError(w, status, err)
}

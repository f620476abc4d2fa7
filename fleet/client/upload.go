package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
)

const (
	// pushTries is how often an upload is tried that does not get further, with waits
	// between that double.
	pushTries           = 6
	leastWait, mostWait = time.Second, time.Minute
)

// Push sends a recording, and returns what the server knows of it. Of what q says, service,
// version, instance and why count. What breaks off it goes on with, and gives up when the
// server is away for half a minute, or refuses.
func (c *Client) Push(ctx context.Context, file string, q url.Values) (api.Recording, error) {
	reached := int64(-1)
	wait := leastWait
	for try := 1; ; try++ {
		kept, at, err := c.Send(ctx, file, q)
		var status *Status
		switch {
		case err == nil, ctx.Err() != nil:
			return kept, err
		case errors.As(err, &status) && !status.again(), reached < 0 && at < 0 && errors.Is(err, ErrUnreachable):
			return kept, err
		case at > reached: // it got further since
			reached, try, wait = at, 1, leastWait
		case try >= pushTries:
			return kept, fmt.Errorf("after %d tries: %w", try, err)
		}
		pause := wait/2 + rand.N(wait/2)
		if status != nil {
			pause = max(pause, min(status.After, mostWait))
		}
		if err := c.pause(ctx, pause); err != nil {
			return kept, err
		}
		wait = min(2*wait, mostWait)
	}
}

// Send sends a recording once, from where an earlier try ended, which it returns; -1 is
// not known. A server that has the recording takes no more of it.
func (c *Client) Send(ctx context.Context, file string, q url.Values) (kept api.Recording, at int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return kept, -1, err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return kept, -1, err
	}
	path := api.UploadsPath + hex.EncodeToString(h.Sum(nil))
	if at, err = c.offset(ctx, path); err != nil {
		return kept, -1, err
	}
	if at > size {
		at = 0 // what is there is something else: the server begins anew
	}
	r, err := c.request(ctx, http.MethodPatch, path+"?"+q.Encode(), io.NopCloser(io.NewSectionReader(f, at, size-at)))
	if err != nil {
		return kept, at, err
	}
	r.ContentLength = size - at
	if r.ContentLength == 0 {
		r.Body = http.NoBody
	}
	r.Header.Set("Content-Type", api.PieceType)
	r.Header.Set(api.OffsetHeader, strconv.FormatInt(at, 10))
	r.Header.Set(api.LengthHeader, strconv.FormatInt(size, 10))
	answer, err := c.patient().answer(r)
	if err != nil {
		return kept, at, err
	}
	defer answer.Body.Close()
	data, err := c.whole(answer, mostAnswer)
	switch {
	case err != nil:
		return kept, at, err
	case answer.StatusCode == http.StatusNoContent:
		return kept, at, fmt.Errorf("%s: not all of the recording arrived", c.name)
	case json.Unmarshal(data, &kept) != nil:
		return kept, at, fmt.Errorf("%s: the answer is not of a recording", c.name)
	}
	return kept, size, nil
}

// offset returns how much of an upload the server has.
func (c *Client) offset(ctx context.Context, path string) (int64, error) {
	answer, err := c.send(ctx, http.MethodHead, path, nil)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if _, err := c.whole(answer, mostAnswer); err != nil {
		return 0, err
	}
	at, err := strconv.ParseInt(answer.Header.Get(api.OffsetHeader), 10, 64)
	if err != nil || at < 0 {
		return 0, fmt.Errorf("%s: it does not say how much of the recording it has", c.name)
	}
	return at, nil
}

// A Status is an answer that is none to the question.
type Status struct {
	Code  int
	After time.Duration // that the server wants one to wait, ten minutes at most; 0 where it does not say
	Hint  string        // what the server says to do; may be empty, and anything
	said  string
}

func (s *Status) Error() string { return s.said }

// again reports whether another try may go better.
func (s *Status) again() bool {
	switch s.Code {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return s.Code >= 500
}

// mostAfter is how long a client waits at most because a server wants it to.
const mostAfter = 10 * time.Minute

// StatusOf reads what an answer says is wrong, and after which time, in seconds or as a
// moment, it may say another thing.
func StatusOf(answer *http.Response, data []byte) *Status {
	s := &Status{Code: answer.StatusCode}
	s.said, s.Hint = answerError(answer.StatusCode, data)
	after := answer.Header.Get("Retry-After")
	if n, err := strconv.Atoi(after); err == nil {
		s.After = time.Duration(min(n, int(mostAfter/time.Second))) * time.Second
	} else if t, err := http.ParseTime(after); err == nil {
		s.After = time.Until(t)
	}
	s.After = max(0, min(s.After, mostAfter))
	return s
}

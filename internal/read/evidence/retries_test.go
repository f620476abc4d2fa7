package evidence

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

var errUnavailable = errors.New("unavailable")

// get asks once.
func get(c *http.Client, url string) error {
	answer, err := c.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
	if answer.StatusCode >= http.StatusInternalServerError {
		return errUnavailable
	}
	return nil
}

// untilAnswered asks until there is no error.
func untilAnswered(ask func() error, pause time.Duration) {
	for {
		err := ask()
		if err == nil {
			return
		}
		<-time.After(pause)
	}
}

// askedAgain returns what a trace has of a client that a server refuses nine times of ten.
func askedAgain(t *testing.T, pause time.Duration) []model.Retry {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%10 != 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	recorded := traceHere(t)
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 5 {
			untilAnswered(func() error { return get(s.Client(), s.URL) }, pause)
		}
	}()
	<-done
	return load(t, Options{}, recorded()).Sched.Retries
}

// TestCallsAgain: what is asked again at once behind an error is counted, and with a pause it is not.
func TestCallsAgain(t *testing.T) {
	for _, c := range []struct {
		pause       time.Duration
		least, most float64
	}{{0, 0.4, 1}, {5 * time.Millisecond, 0, 0.2}} {
		t.Run(c.pause.String(), func(t *testing.T) {
			err := attempt.Repeat(t, func() error { // a busy machine makes pauses of its own
				list := askedAgain(t, c.pause)
				if len(list) == 0 {
					if c.least > 0 {
						return errors.New("no call is made again")
					}
					return nil
				}
				r := list[0]
				if !strings.HasSuffix(r.Loop.Func, ".untilAnswered") {
					return fmt.Errorf("the loop is in %s, want untilAnswered", r.Loop.Func)
				}
				if again := float64(r.Again) / float64(r.Calls); again < c.least || again > c.most || r.Calls < 40 || r.Calls > 60 {
					return fmt.Errorf("%d of %d calls come again at once, want %g to %g of 50", r.Again, r.Calls, c.least, c.most)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRetries: a loop that ends when there is no error is told from one over many things.
func TestRetries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "retries.go")
	const source = `package retries

func again(send func() error) (err error) {
	for {
		if err = send(); err == nil { // tries
			return nil
		}
	}
}

func some(c *client) (*answer, error) {
	for i := 0; i < 5; i++ {
		a, err := c.do() // tries
		if err == nil && a.code < 500 {
			return a, nil
		}
	}
	return nil, errGone
}

func ranged(c *client) (a *answer, err error) {
	for range c.attempts {
		a, err = c.do() // tries
		if err != nil {
			continue
		}
		break
	}
	return a, err
}

func each(c *client, names []string) error {
	for _, name := range names {
		if err := c.ask(name); err != nil { // asks
			return err
		}
	}
	return nil
}

func first(c *client, hosts []string) error {
	for _, h := range hosts {
		err := c.ask(h) // asks
		if err == nil {
			return nil
		}
	}
	return errGone
}

func serve(c *client) {
	for {
		a, err := c.next() // asks
		if err != nil {
			return
		}
		c.handle(a)
	}
}
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newSourceReader()
	if checked := eachMarked(source, " // ", "example.com/retries.", file, func(f model.Frame, what string) {
		if got := r.retries(f); got != (what == "tries") {
			t.Errorf("line %d, %s in %s: retries = %t", f.Line, what, f.Func, got)
		}
	}); checked != 6 {
		t.Fatalf("%d lines were checked", checked)
	}
}

package evidence

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A goroutine that asks all the time is a caller, whether one function writes and reads or two do;
// those who serve, keep a pace, or read what nobody asks for are none.
func TestCallers(t *testing.T) {
	// A machine that others fill has goroutines wait for the processor where they would for an answer.
	if err := attempt.Repeat(t, func() error { return callersAre(t) }); err != nil {
		t.Error(err)
	}
}

// callersAre has goroutines make calls; the error is that one is not told as what it is.
func callersAre(t *testing.T) error {
	const calls = 50
	one, two, paced, pushed := echoes(t), echoes(t), echoes(t), pushes(t)
	recorded := traceHere(t)
	done := make(chan bool)
	for _, work := range []func(){
		func() { asksInOne(one, calls) }, func() { asksInTwo(two, calls) },
		func() { asksPaced(paced, calls) }, func() { readsPushed(pushed, calls) },
		func() { asksByHTTP(t, calls) },
	} {
		go func() {
			work()
			done <- true
		}()
	}
	for range 5 {
		<-done
	}
	m := load(t, Options{}, recorded())
	var wrong []error
	found := map[string]model.Caller{}
	for _, c := range m.Sched.Callers {
		for _, f := range m.Stacks.Frames(c.Stack) {
			found[f.Func[strings.LastIndexByte(f.Func, '.')+1:]] = c
			if strings.Contains(f.Func, ".echoes.") {
				wrong = append(wrong, fmt.Errorf("%s calls in %s, want no call: who answers asks nobody",
					c.Root.Func, f.Func))
			}
		}
		if c.Waited <= 0 || c.Waited+c.Paused > c.Took || c.Most > c.Calls || c.Root.Func == "" {
			wrong = append(wrong, fmt.Errorf("%q waits %v and pauses %v of %v, in %d calls, %d of one function, "+
				"want a name, some wait, no more than it took, no more of one than of all",
				c.Root.Func, c.Waited, c.Paused, c.Took, c.Calls, c.Most))
		}
	}
	for _, name := range []string{"asksInOne", "asksInTwo", "asksPaced", "asksByHTTP"} {
		// The kernel may have an answer before it is waited for, so that some are no wait.
		if c := found[name]; c.Calls < calls*3/4 || c.Calls > calls {
			wrong = append(wrong, fmt.Errorf("%s makes %d calls, want %d to %d", name, c.Calls, calls*3/4, calls))
		}
	}
	for _, name := range []string{"asksInTwo", "asksByHTTP"} {
		if c := found[name]; c.Pauses > calls/10 || 2*c.Waited < c.Took {
			wrong = append(wrong, fmt.Errorf("%s pauses %d times and waits %v of %v, "+
				"want %d times at most, half of it or more", name, c.Pauses, c.Waited, c.Took, calls/10))
		}
	}
	if c := found["asksPaced"]; c.Pauses < calls*3/4 || c.Paused < calls*time.Millisecond/2 {
		wrong = append(wrong, fmt.Errorf("asksPaced pauses %d times for %v, want %d or more for %v or more",
			c.Pauses, c.Paused, calls*3/4, calls*time.Millisecond/2))
	}
	for name, c := range found {
		if c.From < 0 || c.To <= c.From || c.To-c.From > c.Took || c.MostWaited <= 0 || c.MostWaited > min(c.Waited, c.To-c.From) {
			wrong = append(wrong, fmt.Errorf("%s calls from %v to %v of %v, and waits %v of %v for these, "+
				"want 0 or later, no longer than it took, some wait, no longer than the calls and all waits",
				name, c.From, c.To, c.Took, c.MostWaited, c.Waited))
		}
	}
	// What comes is waited for, by the other sides of the connections and by readsPushed.
	if c := found["asksInOne"]; c.Asked < calls {
		wrong = append(wrong, fmt.Errorf("asksInOne has others wait %d times for a question, want %d or more",
			c.Asked, calls))
	}
	if c, ok := found["readsPushed"]; ok {
		wrong = append(wrong, fmt.Errorf("readsPushed makes %d calls, want none: it asks nobody", c.Calls))
	}
	return errors.Join(wrong...)
}

func asksInOne(c net.Conn, n int) {
	for range n {
		askEcho(c)
	}
}

// asksInTwo has a function to write and one to read, like drivers of databases.
func asksInTwo(c net.Conn, n int) {
	for range n {
		writePacket(c)
		readPacket(c)
	}
}

func writePacket(c net.Conn) { c.Write([]byte("q")) }

func readPacket(c net.Conn) { c.Read(make([]byte, 1)) }

func asksPaced(c net.Conn, n int) {
	for range n {
		askEcho(c)
		time.Sleep(time.Millisecond)
	}
}

// readsPushed takes what comes and says that it has it.
func readsPushed(c net.Conn, n int) {
	for range n {
		c.Read(make([]byte, 1))
		c.Write([]byte("+"))
	}
}

func asksByHTTP(t *testing.T, n int) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { time.Sleep(300 * time.Microsecond) }))
	defer s.Close()
	for range n {
		r, err := http.Get(s.URL)
		if err != nil {
			t.Error(err)
			return
		}
		r.Body.Close()
	}
}

// pushes returns a connection on which a byte comes now and then, and something back for each.
func pushes(t *testing.T) net.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for {
			time.Sleep(300 * time.Microsecond)
			if _, err := c.Write([]byte("m")); err != nil {
				return
			}
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Who writes before it reads asks; the lines of the innermost function that does both decide.
func TestAsks(t *testing.T) {
	frames := func(text string) (out []exectrace.Frame) {
		for _, f := range strings.Fields(text) {
			name, line, _ := strings.Cut(f, ":")
			out = append(out, exectrace.Frame{Func: name, Line: len(line)})
		}
		return out
	}
	for _, c := range []struct {
		name, write, read string
		want              bool
	}{
		{"in one function", "write query:| main:|", "read query:|| main:|", true},
		{"who serves", "write serve:|| main:|", "read serve:| main:|", false},
		{"in two", "write send:||| main:|", "read receive:| main:||", true},
		{"two of who serves", "write answer:| main:||", "read question:||| main:|", false},
		{"nothing written", "", "read query:|| main:|", false},
		{"another function's loop", "write send:| a:|", "read receive:|| b:||", false},
		{"two functions on one line", "write send:| main:|", "read receive:|| main:|", false},
	} {
		if got := isRequest(frames(c.write), frames(c.read)); got != c.want {
			t.Errorf("%s: asks = %v, want %v", c.name, got, c.want)
		}
	}
}

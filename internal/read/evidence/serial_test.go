package evidence

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What the handlers of a server ask for, one after the other, is counted operation by
// operation: four questions, an answer in pieces that is asked for once, and a sleep.
func TestSerial(t *testing.T) {
	conns := make(chan net.Conn, 2)
	for range cap(conns) {
		conns <- echoes(t)
	}
	other, err := os.Create(filepath.Join(t.TempDir(), "other"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/asks", func(w http.ResponseWriter, r *http.Request) {
		c := <-conns
		for range 4 {
			askEcho(c)
		}
		conns <- c
	})
	mux.HandleFunc("/drives", func(w http.ResponseWriter, r *http.Request) {
		c := <-conns
		for range 4 {
			ask(c)
		}
		conns <- c
	})
	streams := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(300 * time.Microsecond) }))
	streams.EnableHTTP2 = true
	streams.StartTLS()
	defer streams.Close()
	getStream(t, streams) // which connects
	mux.HandleFunc("/gets", func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			getStream(t, streams)
		}
	})
	mux.HandleFunc("/reads", func(w http.ResponseWriter, r *http.Request) {
		c := <-conns
		readPieces(c)
		conns <- c
	})
	mux.HandleFunc("/serves", func(w http.ResponseWriter, r *http.Request) {
		c := <-conns
		relay(c, other)
		conns <- c
	})
	mux.HandleFunc("/streams", stream)
	mux.HandleFunc("/sleeps", sleepOnce)
	mux.HandleFunc("/rests", restOnce)
	s := httptest.NewServer(mux)
	defer s.Close()
	recorded := traceHere(t)
	for i := range 160 {
		r, err := http.Get(s.URL + []string{"/asks", "/reads", "/sleeps", "/serves", "/streams", "/drives", "/gets", "/rests"}[i%8])
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	m := load(t, Options{}, recorded())
	found := map[string]model.Serial{}
	for _, s := range m.Sched.Serial {
		f, ok := model.UserFrame(m.Stacks.Frames(s.Stack))
		if !ok || s.Waited <= 0 || s.Waited > s.Took {
			t.Errorf("%s at %q waits %v of %v, want a function, some wait, no longer than it took",
				s.Operation.Func, f.Func, s.Waited, s.Took)
		}
		if strings.Contains(s.Operation.Func, ".TestSerial.func") || strings.HasSuffix(s.Operation.Func, ".stream") || strings.HasSuffix(s.Operation.Func, "Once") {
			found[f.Func[strings.LastIndexByte(f.Func, '.')+1:]] = s
		}
	}
	// The kernel may have an answer before it is waited for, so that some are no wait.
	if s := found["askEcho"]; s.Done < 15 || s.Done > 20 || s.Calls < 3*s.Done || s.Calls > 4*s.Done || s.Sleeps {
		t.Errorf("askEcho: %d operations, %d calls, sleeps %v, want 15 to 20, 3 to 4 calls each, false",
			s.Done, s.Calls, s.Sleeps)
	}
	if s := found["receiveAnswer"]; s.Done < 15 || s.Done > 20 || s.Calls < 3*s.Done || s.Calls > 4*s.Done || s.Sleeps {
		t.Errorf("receiveAnswer: %d operations, %d calls, sleeps %v, want 15 to 20, 3 to 4 calls each, false",
			s.Done, s.Calls, s.Sleeps)
	}
	if s := found["getStream"]; s.Done < 15 || s.Done > 20 || 4*s.Calls < 9*s.Done || s.Calls > 4*s.Done || s.Sleeps {
		t.Errorf("getStream: %d operations, %d calls, sleeps %v, want 15 to 20, 2.25 to 4 calls each, false",
			s.Done, s.Calls, s.Sleeps)
	}
	if s := found["readPieces"]; s.Done > 20 || s.Calls > s.Done {
		t.Errorf("readPieces: %d operations, %d calls, want at most 20, no more calls", s.Done, s.Calls)
	}
	if s, ok := found["relay"]; ok {
		t.Errorf("relay: %d calls, want none: these are questions of the other side", s.Calls)
	}
	if s, ok := found["stream"]; ok {
		t.Errorf("stream: %d calls, want none: these sleeps pace a stream", s.Calls)
	}
	if s := found["sleepOnce"]; s.Done < 19 || s.Done > 20 || s.Calls != s.Done || !s.Sleeps || s.Waited < 19*time.Millisecond {
		t.Errorf("sleepOnce: %d operations, %d calls for %v, sleeps %v, want 19 to 20, as many for 19ms or more, true",
			s.Done, s.Calls, s.Waited, s.Sleeps)
	}
	if s := found["restOnce"]; s.Done < 19 || s.Done > 20 || s.Calls != s.Done || !s.Sleeps || !s.Rests || s.Waited < 19*time.Millisecond {
		t.Errorf("restOnce: %d operations, %d calls for %v, sleeps %v, rests %v, "+
			"want 19 to 20, as many for 19ms or more, true, true", s.Done, s.Calls, s.Waited, s.Sleeps, s.Rests)
	}
}

// TestRounds: a goroutine that nobody outside waits for has rounds: a list is asked for, and then each of its rows.
func TestRounds(t *testing.T) {
	c := echoes(t)
	recorded := traceHere(t)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		for range 40 {
			askList(c)
			askRows(c)
		}
	}()
	<-ended
	m := load(t, Options{}, recorded())
	found := map[string]model.Serial{}
	for _, s := range m.Sched.Serial {
		if s.Loops {
			found[s.Operation.Func[strings.LastIndexByte(s.Operation.Func, '.')+1:]+" "+m.Stacks.Frames(s.Stack)[len(m.Stacks.Frames(s.Stack))-2].Func] = s
		}
	}
	if len(found) != 1 {
		t.Fatalf("rounds %+v, want those of one goroutine", found)
	}
	for at, s := range found { // the kernel may have an answer before it is waited for
		if !strings.HasPrefix(at, "func1 ") || !strings.HasSuffix(at, ".askRows") || s.Done < 30 || s.Done > 39 || s.Calls < 5*s.Done || s.Calls > 9*s.Done || s.Waited > s.Took {
			t.Errorf("%s: %+v, want some forty rounds of eight calls and more", at, s)
		}
	}
}

func askList(c net.Conn) { askEcho(c) }

func askRows(c net.Conn) {
	for range 8 {
		askEcho(c)
	}
}

// Most operations say who asks: one that was kept from the processor finds what came there
// already, and seems not to wait for it.
func TestSerialMostDecide(t *testing.T) {
	m := &model.Model{Sched: &model.Sched{}}
	read := []exectrace.Frame{{Func: "net.(*conn).Read"}, {Func: "main.relay"}, {Func: "main.handle"}}
	m.Sched.Waits = []model.Wait{{Stack: m.Stacks.Add([]model.Frame{model.Frame(read[0]), model.Frame(read[1]), model.Frame(read[2])})}}
	for _, c := range []struct{ asks, serves, want int }{{20, 0, 20}, {19, 1, 19}, {1, 19, 0}, {0, 20, 0}, {10, 10, 0}} {
		r := serialReader{sums: map[serialKey]*serialSum{}}
		for i := range c.asks + c.serves {
			p := serialPart{function: "main.relay", kind: onSocket, waits: 4, serves: i >= c.asks, waited: 1000, frames: read}
			r.end(&operation{whole: true, root: read[2], parts: []serialPart{p}}, 2000)
		}
		got := 0
		for _, s := range foundSums(m, r.sums) {
			got += int(s.Done)
		}
		if got != c.want {
			t.Errorf("found of %d operations that ask and %d that serve = %d, want %d", c.asks, c.serves, got, c.want)
		}
	}
}

// echoes returns a connection to who answers each byte with it after a moment, and a 'p' with
// four pieces; who asks with an 's' has no answer.
func echoes(t *testing.T) net.Conn {
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
		b := make([]byte, 1)
		for {
			if _, err := c.Read(b); err != nil {
				return
			}
			pieces := 1
			switch b[0] {
			case 'p':
				pieces = 4
			case 's':
				pieces = 0
			}
			for range pieces {
				time.Sleep(300 * time.Microsecond)
				c.Write(b)
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

func askEcho(c net.Conn) {
	c.Write([]byte("q"))
	c.Read(make([]byte, 1))
}

// ask is a question as drivers of databases ask it: with one function to write and another to read.
func ask(c net.Conn) {
	sendQuestion(c)
	receiveAnswer(c)
}

func sendQuestion(c net.Conn) { c.Write([]byte("q")) }

func receiveAnswer(c net.Conn) { c.Read(make([]byte, 1)) }

func getStream(t *testing.T, s *httptest.Server) {
	r, err := s.Client().Get(s.URL)
	if err != nil || r.ProtoMajor != 2 {
		t.Errorf("Get() = %v, %v, want an answer in HTTP/2", r, err)
		return
	}
	r.Body.Close()
}

// restOnce sleeps for as long as somebody wants the answer.
func restOnce(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(time.Millisecond):
	case <-r.Context().Done():
	}
}

func sleepOnce(http.ResponseWriter, *http.Request) { time.Sleep(time.Millisecond) }

// stream sends a piece of its answer after each sleep.
func stream(w http.ResponseWriter, r *http.Request) {
	for range 3 {
		time.Sleep(time.Millisecond)
		w.Write([]byte("event\n"))
		w.(http.Flusher).Flush()
	}
}

// relay waits first, and passes on what comes: somebody else asked for it.
func relay(c net.Conn, other io.Writer) {
	sent := make(chan bool)
	go func() { sendFor(c); close(sent) }()
	<-sent
	b := make([]byte, 1)
	for range 4 {
		c.Read(b)
		other.Write(b)
	}
}

func sendFor(c net.Conn) { c.Write([]byte("p")) }

func readPieces(c net.Conn) {
	c.Write([]byte("p"))
	io.ReadFull(c, make([]byte, 4))
}

// TestExpiredCalls: a call that its deadline ends has no answer: the one of a connection, after which
// nothing is read, and the one of a client of HTTP, whose context ends. Each asks a second time, and is answered,
// by a busy machine not always in time.
func TestExpiredCalls(t *testing.T) {
	conns := make(chan net.Conn, 1)
	conns <- echoes(t)
	held := make(chan bool)
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" {
			<-held
		}
		time.Sleep(300 * time.Microsecond)
	}))
	defer silent.Close()
	defer close(held)
	mux := http.NewServeMux()
	mux.HandleFunc("/asks", func(w http.ResponseWriter, r *http.Request) {
		c := <-conns
		askInVain(c)
		conns <- c
	})
	mux.HandleFunc("/gets", func(w http.ResponseWriter, r *http.Request) { getInVain(silent.URL) })
	mux.HandleFunc("/closed", func(w http.ResponseWriter, r *http.Request) { askAndClose(silent.Listener.Addr().String()) })
	s := httptest.NewServer(mux)
	defer s.Close()
	recorded := traceHere(t)
	for i := range 60 {
		r, err := http.Get(s.URL + []string{"/asks", "/gets", "/closed"}[i%3])
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	m := load(t, Options{}, recorded())
	for _, s := range m.Sched.Serial {
		if f, _ := model.UserFrame(m.Stacks.Frames(s.Stack)); strings.HasSuffix(f.Func, ".askAndClose") && s.Expired > 0 {
			t.Errorf("%+v, want none that a deadline ended: the connection was closed", s)
		}
	}
	for _, name := range []string{"askInVain", "getInVain"} {
		var got model.Serial
		for _, s := range m.Sched.Serial {
			if f, ok := model.UserFrame(m.Stacks.Frames(s.Stack)); ok && strings.HasSuffix(f.Func, "."+name) && strings.Contains(s.Operation.Func, ".TestExpiredCalls.func") {
				got = s
			}
		}
		if got.Expired < 17 || got.Expired > 30 || got.Lost < time.Duration(got.Expired)*2*time.Millisecond || got.Lost > got.Waited {
			t.Errorf("%s: %+v, want twenty calls that their deadline ended after 2ms, and as many that were answered", name, got)
		}
	}
}

func askInVain(c net.Conn) {
	for _, question := range []string{"s", "q"} {
		c.SetReadDeadline(time.Now().Add(2 * time.Millisecond))
		c.Write([]byte(question))
		c.Read(make([]byte, 1))
	}
}

// askAndClose asks who does not answer, and has another goroutine close the connection meanwhile.
func askAndClose(address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	go func() {
		time.Sleep(time.Millisecond)
		c.Close()
	}()
	c.Write([]byte("q"))
	c.Read(make([]byte, 1))
}

func getInVain(url string) {
	client := http.Client{Timeout: 2 * time.Millisecond}
	for _, path := range []string{"/silent", "/"} {
		if r, err := client.Get(url + path); err == nil {
			r.Body.Close()
		}
	}
}

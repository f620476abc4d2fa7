package load

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

var discardLog = log.New(io.Discard, "", 0)

// The test binary is the program that is fed, when this says how it behaves.
const behaviour = "GOWHY_TEST_LINES"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		beFed(how)
		return
	}
	os.Exit(m.Run())
}

// beFed answers lines. With a number it dies after so many; "deaf" reads
// nothing, "mute" answers nothing, "stubborn" does not end, "parent" leaves a
// child behind that has its files.
func beFed(how string) {
	if how == "parent" {
		child := exec.Command(os.Args[0])
		child.Env, child.Stdout, child.Stderr = append(os.Environ(), behaviour+"=deaf"), os.Stdout, os.Stderr
		if err := child.Start(); err != nil {
			os.Exit(4)
		}
		fmt.Fprintf(os.Stderr, "%d\n", child.Process.Pid)
	}
	if how == "deaf" {
		time.Sleep(time.Minute)
	}
	most, err := strconv.Atoi(how)
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); n++ {
		if err == nil && n == most {
			fmt.Fprintln(os.Stderr, "no more")
			os.Exit(3)
		}
		if how != "mute" {
			fmt.Println("you said " + in.Text())
		}
	}
	if how == "stubborn" {
		time.Sleep(time.Minute)
	}
}

func fed(t *testing.T, how string, f Feed) Protocol {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f.Command, f.Env = []string{self}, []string{behaviour + "=" + how}
	p, err := Lines(f)
	if err != nil {
		t.Fatal(err)
	}
	p.(*feed).parting = 100 * ms
	return p
}

// patient returns a program's protocol that waits for its end, however late a busy machine has it.
func patient(p Protocol) Protocol {
	p.(*feed).parting = 10 * time.Second
	return p
}

func TestLines(t *testing.T) {
	words := [][]byte{[]byte("one"), []byte("three"), []byte("")}
	p := fed(t, "answer", Feed{Lines: words})
	r, err := Offer(t.Context(), Options{Protocol: p, Rate: 2000, Count: 300, Connections: 2})
	// "you said one\n", "you said three\n" and "you said \n" in turn.
	if err != nil || r.Ops != 300 || r.Failed != 0 || r.Bytes != 100*(13+15+10) || r.Connections != 2 {
		t.Errorf("Offer() = %+v, %v; want 300 operations over 2 connections, %d bytes", r, err, 100*(13+15+10))
	}
	tiled(t, r)
	// Without lines, numbers; one at a time in a closed loop.
	r, err = Offer(t.Context(), Options{Protocol: fed(t, "answer", Feed{}), Closed: true, Count: 12, Connections: 1})
	if err != nil || r.Ops != 12 || r.Bytes != 10*11+2*12 {
		t.Errorf("Offer() = %+v, %v; want 12 operations, %d bytes", r, err, 10*11+2*12)
	}
}

// A program that ends is not started again, and how it ended is told.
func TestLinesProgramEnds(t *testing.T) {
	var said safeBuffer
	// Closed: its answers are read before it ends, however late.
	r, err := Offer(t.Context(), Options{Protocol: patient(fed(t, "7", Feed{Stderr: &said})), Closed: true, Connections: 1, Count: 50})
	if want := (loadresult.Failure{What: "the program ended: exit status 3", N: 43}); err != nil || r.Ops != 50 || r.Failed != 43 || r.Errors[0] != want || r.Connections != 1 {
		t.Errorf("Offer to a program that answers 7 of 50 lines = %+v, %v, want %+v on one connection", r, err, want)
	}
	if said.String() != "no more\n" {
		t.Errorf("standard error %q, want \"no more\\n\"", said.String())
	}
}

// A program that does not answer costs each operation its time, and no more.
func TestLinesMute(t *testing.T) {
	r, err := Offer(t.Context(), Options{Protocol: fed(t, "mute", Feed{}), Rate: 1000, Count: 10, Timeout: 500 * ms})
	if err != nil || r.Ops != 10 || r.Errors[0] != (loadresult.Failure{What: kindTimeout, N: 10}) {
		t.Errorf("Offer() to a mute program = %+v, %v; want 10 timeouts", r, err)
	}
	if least := r.Quantile(0); least < 450*ms {
		t.Errorf("given up after %v", least)
	}
}

// Without answers, what counts is when the program's input took a line: here
// until the pipe was full.
func TestLinesNoReply(t *testing.T) {
	r, err := Offer(t.Context(), Options{Protocol: fed(t, "mute", Feed{NoReply: true}), Closed: true, Count: 1000, Connections: 1})
	if err != nil || r.Ops != 1000 || r.Failed != 0 {
		t.Errorf("Offer() without replies = %+v, %v; want 1000 operations and no failure", r, err)
	}
	// Nobody reads: some lines fit into the pipe, one gets stuck, and no more is
	// tried.
	line := bytes.Repeat([]byte("x"), 30_000)
	for _, noReply := range []bool{true, false} {
		p := fed(t, "deaf", Feed{NoReply: noReply, Lines: [][]byte{line}})
		r, err := Offer(t.Context(), Options{Protocol: p, Rate: 200, Duration: 500 * ms, Timeout: time.Second})
		if err != nil || r.Sent < 2 || r.Sent > 50 || r.Planned != 100 || r.Failed == 0 || r.Failed == r.Ops && noReply {
			t.Errorf("%d of %d sent, %d of %d failed: %v, %v", r.Sent, r.Planned, r.Failed, r.Ops, r.Errors, err)
		}
	}
}

// A program that does not end is killed.
func TestLinesStubborn(t *testing.T) {
	start := time.Now()
	c, err := fed(t, "stubborn", Feed{}).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if took := time.Since(start); took < 100*ms || took > 30*time.Second {
		t.Errorf("ended after %v", took)
	}
}

// What a program leaves behind does not keep it from being closed.
func TestLinesLeavesChild(t *testing.T) {
	var said safeBuffer
	c, err := fed(t, "parent", Feed{Stderr: &said}).Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Send(0, time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	c.Close()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closed after %v", took)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(said.String()))
	if err != nil {
		t.Fatal(err)
	}
	if child, err := os.FindProcess(pid); err == nil {
		child.Kill()
	}
}

func TestLinesRefused(t *testing.T) {
	for _, f := range []Feed{{}, {Command: []string{"/no/such/program"}}} {
		if _, err := Lines(f); err == nil {
			t.Errorf("%v is accepted", f)
		}
	}
	p, err := Lines(Feed{Command: []string{os.Args[0]}, Dir: "/no/such/dir"})
	if err != nil || !strings.HasPrefix(p.String(), "lines to ") {
		t.Fatalf("Lines() = %v, %v; want \"lines to …\"", p, err)
	}
	if _, err := p.Dial(t.Context()); err == nil {
		t.Error("started where there is nothing")
	}
}

type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

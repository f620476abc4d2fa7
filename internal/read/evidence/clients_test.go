package evidence

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A goroutine that waits for what another one reads for it waits for an answer, where it has sent
// a question before. One that gets what nobody asked for does not, nor does one that answers it.
func TestClients(t *testing.T) {
	// A machine that others fill has answers be there before somebody waits for them.
	if err := attempt.Repeat(t, func() error { return clientsAre(t) }); err != nil {
		t.Error(err)
	}
}

// clientsAre has goroutines use shared connections; the error is that one is not told as what it is.
func clientsAre(t *testing.T) error {
	const calls = 60
	direct, through, served, ahead, beside := shared(t, byCaller), shared(t, byAnother), shared(t, ofServer), shared(t, inAdvance), shared(t, forNobody)
	recorded := traceHere(t)
	done := make(chan bool)
	for _, work := range []func(){
		func() { asksDirectly(direct, calls) }, func() { asksThrough(through, calls) }, func() { answersOthers(served, calls) },
		func() { takesAll(ahead, calls) }, func() { tellsAndWaits(beside, calls) },
	} {
		go func() {
			work()
			done <- true
		}()
	}
	for range 5 {
		<-done
	}
	m := load(t, Options{NoSource: true}, recorded())
	found := map[string]model.Caller{}
	for _, c := range m.Sched.Callers {
		for _, f := range m.Stacks.Frames(c.Stack) {
			found[f.Func[strings.LastIndexByte(f.Func, '.')+1:]] = c
		}
	}
	var wrong []error
	for _, name := range []string{"asksDirectly", "asksThrough"} {
		if c := found[name]; c.Calls < calls*2/3 || c.Calls > calls || 2*c.Waited < c.Took {
			wrong = append(wrong, fmt.Errorf("%s makes %d calls and waits %v of %v, want %d to %d, half of it or more",
				name, c.Calls, c.Waited, c.Took, calls*2/3, calls))
		}
	}
	for _, name := range []string{"answersOthers", "takesAll", "tellsAndWaits"} {
		if c, ok := found[name]; ok {
			wrong = append(wrong, fmt.Errorf("%s makes %d calls, want none: it asks nobody", name, c.Calls))
		}
	}
	return errors.Join(wrong...)
}

// A sharedConnection is a client whose connection one goroutine reads for all.
type sharedConnection struct {
	net.Conn
	out, in chan byte
	how     sharing
}

// A sharing is who writes to a shared connection.
type sharing int

const (
	byCaller  sharing = iota
	byAnother         // a goroutine that callers wake
	ofServer          // the same, and the other side asks first
	inAdvance         // who reads, as much as callers take
	forNobody         // callers, who wait for work of another goroutine and not for the answer
)

// shared connects to who answers each byte after a moment.
func shared(t *testing.T, how sharing) *sharedConnection {
	c := &sharedConnection{echoes(t), make(chan byte), make(chan byte), how}
	if how == ofServer {
		c.Write([]byte("q"))
	}
	go c.reads()
	if how == forNobody {
		go c.works()
	} else {
		go c.writes()
	}
	t.Cleanup(func() { close(c.out) })
	return c
}

func (c *sharedConnection) reads() {
	b := make([]byte, 1)
	for {
		if c.how == inAdvance {
			c.Write([]byte("q"))
		}
		if _, err := c.Read(b); err != nil {
			return
		}
		if c.how != forNobody {
			c.in <- b[0]
		}
	}
}

// works has a result now and then, which is of no connection.
func (c *sharedConnection) works() {
	for {
		time.Sleep(300 * time.Microsecond)
		select {
		case c.in <- 'r':
		case <-c.out:
			return
		}
	}
}

func (c *sharedConnection) writes() {
	for b := range c.out {
		c.Write([]byte{b})
	}
}

func (c *sharedConnection) send() {
	if c.how == byCaller || c.how == forNobody {
		c.Write([]byte("q"))
	} else {
		c.out <- 'q'
	}
}

func asksDirectly(c *sharedConnection, n int) {
	for range n {
		c.send()
		<-c.in
	}
}

func asksThrough(c *sharedConnection, n int) {
	for range n {
		c.send()
		<-c.in
	}
}

// answersOthers waits first, and sends something for each.
func answersOthers(c *sharedConnection, n int) {
	for range n {
		<-c.in
		c.send()
	}
}

// takesAll is given what nobody asked for.
func takesAll(c *sharedConnection, n int) {
	for range n {
		<-c.in
	}
}

// tellsAndWaits writes what nobody waits for the answer to.
func tellsAndWaits(c *sharedConnection, n int) {
	for range n {
		c.send()
		<-c.in
	}
}

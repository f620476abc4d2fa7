package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// A Protocol opens connections on which operations are done. [HTTP], [DNS] and
// [Lines] give one.
type Protocol interface {
	// Dial opens a connection.
	Dial(ctx context.Context) (Conn, error)
	// Limits are what suits the protocol where the options do not say.
	Limits() Limits
	// String is the target, as a user would call it.
	String() string
}

// Limits bound what a [Protocol] does at once.
type Limits struct {
	Connections int // open at a time; more can be asked for
	// Depth is the most operations that a connection can have under way: 1 when
	// each answer has to come before the next operation.
	Depth int
}

// A Conn is one connection. Where Depth is more than 1, Send and Receive may
// run at the same time, but neither of them twice. Close makes both return, and
// may be called more than once.
type Conn interface {
	// Send hands one operation over. seq counts operations from 0 and chooses
	// what is sent where there is a choice.
	Send(seq int64, deadline time.Time) error
	// Receive returns the next answer, to any of the operations sent. With
	// [ErrTimeout] none came before the deadline and the connection is still
	// good; any other error ends the connection, and with it what is under way.
	Receive(deadline time.Time) (Reply, error)
	Close() error
}

// A Reply is the answer to one operation.
type Reply struct {
	Seq   int64 // -1 when it ends no operation
	Bytes int64 // received
	Err   error // the operation failed, the connection is good
	Last  bool  // the connection gives no more answers
	// Note is the kind of the answer in a few words, where the protocol has
	// kinds: answers of the same kind are counted together.
	Note string
}

var (
	// ErrTimeout is what Receive returns when nothing came in time.
	ErrTimeout = errors.New("no answer in time")
	// ErrStale is what Send or Receive returns when the other side had closed a
	// connection that lay idle before it could take an operation: it may be done
	// again on a new one.
	ErrStale = errors.New("the connection was closed while idle")
)

// A StatusError is an answer that says that the operation failed.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// Reach opens a connection and closes it, so that the error comes at once when nobody is
// there. Where a connection alone does not tell, one operation is done.
func Reach(ctx context.Context, p Protocol) error {
	c, err := p.Dial(ctx)
	if err != nil {
		return err
	}
	if a, ok := p.(interface{ ask(Conn, time.Time) error }); ok {
		err = a.ask(c, time.Now().Add(reachTime))
	}
	return errors.Join(err, c.Close())
}

// reachTime is how long [Reach] waits for an answer.
const reachTime = time.Second

// Kind names an error of an operation or of [Protocol].Dial in a few words:
// errors of the same kind are counted together.
func Kind(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return kindTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return kindRefused
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return kindPorts
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return kindFiles
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "connection closed without an answer"
	case errors.As(err, &dns):
		return "no address for host " + loadresult.Printable(dns.Name)
	case errors.As(err, &op): // without the ports, which differ
		return loadresult.Printable(op.Op + ": " + op.Err.Error())
	}
	return loadresult.Printable(err.Error())
}

// The kinds of failure that say who is to blame, of which none is lost among
// others.
const (
	kindTimeout = "no answer in time"
	kindRefused = "connection refused"
	kindPorts   = "no local port left"
	kindFiles   = "too many open files"
)

var knownKinds = []string{kindTimeout, kindRefused, kindPorts, kindFiles, kindOthers}

package central

import (
	"bufio"
	"net"
	"sync"
	"time"

	"evchargers/internal/wire"
)

// outboxEvery is well below what a driver would notice.
const outboxEvery = 3 * time.Millisecond

// session is one charge point. Messages for it, be they answers or commands of
// operators, go through its outbox, so that only one goroutine writes.
type session struct {
	sys  *System
	nc   net.Conn
	gone chan struct{}
	wake chan struct{}

	mu     sync.Mutex
	outbox []byte
}

func newSession(s *System, nc net.Conn) *session {
	return &session{sys: s, nc: nc, gone: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (s *session) read() {
	defer close(s.gone)
	r := bufio.NewReader(s.nc)
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		var mv wire.MeterValues
		id, err := wire.Parse(line, &mv)
		if err != nil {
			return
		}
		out := wire.Confirm{Limit: 11000}
		for _, x := range mv.Samples {
			if x.Measurand == "Energy.Active.Import.Interval" {
				out.Cents += s.sys.prices.Add(x.Value, time.Now())
			} else if x.Measurand == "Voltage" && x.Value < 215 {
				out.Limit, out.Note = 7400, "grid"
			}
		}
		if msg, err := wire.Result(id, out); err == nil {
			s.push(msg)
		}
	}
}

func (s *session) push(msg []byte) {
	s.mu.Lock()
	s.outbox = append(s.outbox, msg...)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// deliver writes what is in the outbox.
func (s *session) deliver() {
	defer s.nc.Close()
	if s.sys.nudge {
		for {
			select {
			case <-s.gone:
				return
			case <-s.wake:
				if s.flush() != nil {
					return
				}
			}
		}
	}
	t := time.NewTicker(outboxEvery)
	defer t.Stop()
	for {
		select {
		case <-s.gone:
			return
		case <-t.C:
			if s.flush() != nil {
				return
			}
		}
	}
}

func (s *session) flush() error {
	s.mu.Lock()
	out := s.outbox
	s.outbox = nil
	s.mu.Unlock()
	if len(out) == 0 {
		return nil
	}
	_, err := s.nc.Write(out)
	return err
}

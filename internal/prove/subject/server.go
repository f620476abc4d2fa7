package subject

import (
	"context"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// A Server is a program that was started and is ready, for load that comes from
// somewhere else than [Spec.Load]. Stop it.
type Server struct {
	subject *Subject
	process *process
}

// Start starts a subject that has [Spec.Ready] and returns when it is, and the
// one that answers.
func (s *Subject) Start(ctx context.Context) (*Server, error) {
	if !s.server() {
		return nil, problem.New(problem.Misuse, "--ready http://localhost:8080/", "specify when the program is ready")
	}
	p, err := s.launch(ctx)
	if err != nil {
		return nil, err
	}
	v := &Server{s, p}
	if err := v.Check(); err != nil {
		v.Stop()
		return nil, err
	}
	return v, nil
}

// Check says what is wrong with a server that has ended, or that another
// program answers for.
func (v *Server) Check() error { return v.subject.check(v.process) }

// Stop ends the server.
func (v *Server) Stop() { v.subject.end(v.process) }

// A Watch measures how busy the machine is with other things than servers, this
// process, and programs that it starts and ends meanwhile.
type Watch struct {
	meter   *meter
	ledgers []*ledger
}

// Begin begins a watch. End it.
func Begin(servers []*Server) *Watch {
	w := &Watch{meter: beginMeter()}
	for _, v := range servers {
		if l, err := beginLedger(v.process.pid()); err == nil {
			w.ledgers = append(w.ledgers, l)
		}
	}
	return w
}

// End returns the conditions since Begin.
func (w *Watch) End() experiment.Conditions {
	var cpu, waited time.Duration
	for _, l := range w.ledgers {
		used := l.use()
		cpu += used.cpu
		waited += used.runQueue
		l.close()
	}
	runQueue := -1.0
	if cpu > 0 {
		runQueue = max(0, waited.Seconds()/cpu.Seconds())
	}
	return w.meter.end(cpu, runQueue)
}

package subject

import (
	"context"
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// serve runs a server with its load once.
func (s *Subject) serve(ctx context.Context) (experiment.Sample, error) {
	if len(s.spec.Load) == 0 {
		return s.startUp(ctx)
	}
	var sample experiment.Sample
	err := s.running(ctx, func(server *process) (err error) {
		sample, err = s.underLoad(ctx, server)
		return err
	})
	return sample, err
}

// running starts the server, sees that it is the one that answers, before
// and after during, and ends it.
func (s *Subject) running(ctx context.Context, during func(*process) error) error {
	server, err := s.launch(ctx)
	if err != nil {
		return err
	}
	defer s.end(server)
	if err := s.check(server); err != nil {
		return err
	}
	if err := during(server); err != nil {
		return err
	}
	return s.check(server)
}

// parting is how long a program may take from when it listens no more until it is gone.
const parting = time.Second

// check says what is wrong with a server that has ended, or that another program
// answers for.
func (s *Subject) check(server *process) error {
	if server.gone() {
		return ended(server)
	}
	err := checkOwn(procFS, server.pid(), server.program, s.ready.targets)
	if err == nil {
		return nil
	}
	select {
	case <-server.exited:
		return ended(server)
	case <-time.After(parting):
		return err
	}
}

// launch starts the server and returns when it is ready.
func (s *Subject) launch(ctx context.Context) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkFree(procFS, s.ready.targets); err != nil {
		return nil, err
	}
	server, err := start(s.spec.Program, s.ready.text)
	if err != nil {
		return nil, err
	}
	if err := s.ready.await(ctx, server, s.spec.Startup); err != nil {
		server.abandon()
		return nil, err
	}
	return server, nil
}

func (s *Subject) end(server *process) {
	if !server.stop() {
		s.spec.Log(fmt.Sprintf("%s did not end within %v of SIGTERM, and was killed", server.program.displayCommand(), stopGrace))
	}
}

// ended says that a server is gone that should still be there.
func ended(server *process) error {
	if err := server.failure(); err != nil {
		return err
	}
	return problem.New(problem.Failure, "a program that ends by itself goes without --ready and --load", "%s ended while it was given load%s", server.program.displayCommand(), server.out.lastLines())
}

// startUp measures a server from its start until it is ready.
func (s *Subject) startUp(ctx context.Context) (experiment.Sample, error) {
	meter := beginMeter()
	server, err := s.launch(ctx)
	if err != nil {
		meter.end(0, -1)
		return experiment.Sample{}, err
	}
	elapsed := time.Since(server.began)
	var used counters
	if l, err := beginLedger(server.pid()); err == nil {
		used = difference(nil, l.last)
		l.close()
	}
	m := measurement{begin: server.began, elapsed: elapsed, counters: used, peak: familyPeak(server.pid())}
	m.conditions = meter.end(used.cpu, -1)
	err = checkOwn(procFS, server.pid(), server.program, s.ready.targets)
	s.end(server)
	sample := m.sample()
	sample.Ops = s.spec.Ops
	m.perOp(&sample)
	return sample, err
}

// underLoad gives a server its load and measures it meanwhile, its start and
// its end left out.
func (s *Subject) underLoad(ctx context.Context, server *process) (experiment.Sample, error) {
	meter := beginMeter()
	ledger, err := beginLedger(server.pid())
	if err != nil {
		meter.end(0, -1)
		if server.gone() {
			return experiment.Sample{}, ended(server)
		}
		return experiment.Sample{}, problem.New(problem.Failure, "", "what %s uses cannot be seen: %w", server.program.displayCommand(), err)
	}
	defer ledger.close()
	g, err := s.offer(ctx, server)
	used := ledger.use()
	runQueue := -1.0
	if used.cpu > 0 {
		runQueue = max(0, used.runQueue.Seconds()/used.cpu.Seconds())
	}
	conditions := meter.end(used.cpu, runQueue)
	if err != nil {
		return experiment.Sample{}, err
	}
	m := measurement{begin: g.began, elapsed: g.ended.Sub(g.began), counters: used, peak: familyPeak(server.pid()), conditions: conditions}
	sample := m.sample()
	if err := s.outcome(&sample, m, g.program, g.out); err != nil {
		return sample, err
	}
	return sample, idle(server, used, sample.Ops)
}

// idle returns the error of a load that went elsewhere: whoever answers is woken for
// it. Where nothing but a line of its log says that the program is ready, the
// port that the load goes to may be another's.
func idle(server *process, used counters, ops float64) error {
	if used.cpu > 0 || used.switches >= 1+ops/1000 || ops < 10 {
		return nil
	}
	return problem.New(problem.Failure, "--ready http://localhost:8080/   # the address that the load goes to, which is then held to be the program's own", "%s did nothing while %s operations were answered: the load goes to another program", server.program.displayCommand(), figures.Number(ops))
}

// offer runs the load generator to its end. A server that ends meanwhile ends
// it, too.
func (s *Subject) offer(ctx context.Context, server *process) (*process, error) {
	generator, err := start(s.load, "")
	if err != nil {
		return nil, err
	}
	select {
	case <-generator.exited:
	case <-server.exited:
		generator.abandon()
		return generator, ended(server)
	case <-ctx.Done():
		generator.abandon()
		return generator, generator.interrupted(ctx)
	}
	if server.gone() {
		return generator, ended(server)
	}
	return generator, generator.failure()
}

// familyPeak returns the greatest memory that one process of a family had.
func familyPeak(leader int) (peak uint64) {
	for _, m := range readFamily(procFS, leader) {
		peak = max(peak, peakOf(procFS, m.pid))
	}
	return peak
}

package evidence

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// isLoad accepts what load generators and benchmarks print or write, of which
// some is not text.
func isLoad(head []byte) bool { return loadresult.Detect(head) }

// readLoad reads what a load generator or a benchmark measured.
func (l *loader) readLoad(s source) error {
	r, err := loadresult.Parse(ctxReader{l.ctx, s.r})
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case err != nil:
		return l.pass(problem.New(problem.Failure, "give the load generator's whole output", "cannot read the load result %q: %w", s.name, err))
	}
	if err := l.take(model.LoadResult, "load result", s.name); err != nil {
		return err
	}
	l.setLoad(r)
	return nil
}

// setLoad puts a result on the model's clock.
func (l *loader) setLoad(r *loadresult.Result) {
	m := &model.Load{Tool: r.Tool, Names: r.Tool == "dnsperf" || strings.HasPrefix(r.Target, "DNS at "), Duration: r.Duration, Ops: r.Ops, Failed: r.Failed, Unanswered: r.Unanswered, Crossed: r.Crossed, Rate: r.Rate, Offered: r.Offered, URL: r.URL, Connections: r.Connections, Bytes: r.Bytes, Mean: r.Mean,
		Closed: r.Closed, Generator: model.Generator{Limit: r.Generator, CPU: r.CPU, Procs: r.Procs},
		Failures: mapSlice(r.Errors, func(f loadresult.Failure) model.Failure { return model.Failure(f) }),
		Backlog:  mapSlice(r.Backlog, func(l loadresult.Level) model.Point { return model.Point{At: l.At, Value: float64(l.N)} }),
		Latency:  mapSlice(r.Latency, func(q loadresult.Quantile) model.Quantile { return model.Quantile(q) }),
		Over:     mapSlice(r.Over, func(i loadresult.Interval) model.Interval { return model.Interval(i) }),
		Benchmarks: mapSlice(r.Benchmarks, func(b loadresult.Benchmark) model.Benchmark {
			return model.Benchmark{Package: b.Config["pkg"], Name: b.Name, N: b.N, Values: b.Values}
		}),
	}
	l.m.Load = m
	l.covers(spanOfLoad, r.Start, r.Start.Add(r.Duration))
	l.align(func(c clock) {
		if m.Start, m.Known = c.since(r.Start); !m.Known {
			return
		}
		for i := range m.Over {
			m.Over[i].At += m.Start
		}
		for i := range m.Backlog {
			m.Backlog[i].At += m.Start
		}
		m.Backlog = inWindow(c, m.Backlog, func(p *model.Point) time.Duration { return p.At })
		m.Over = inWindow(c, m.Over, func(i *model.Interval) time.Duration { return i.At })
	})
}

// joinBenchmarks reads the lines of benchmarks that were found in logs.
func (l *loader) joinBenchmarks() {
	if len(l.logs.bench) == 0 || l.m.Load != nil {
		return
	}
	r, err := loadresult.Parse(io.LimitReader(bytes.NewReader(l.logs.bench), maxBenchText))
	if err != nil {
		l.note("lines of benchmarks in a log could not be read: %v", err)
		return
	}
	l.setLoad(r)
}

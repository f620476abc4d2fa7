package evidence

import (
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// readHolders reads what [artifact.HoldersJSON] wrote.
func (l *loader) readHolders(s source) error {
	if err := l.take(model.Holders, "look at who holds the heap", s.name); err != nil {
		return err
	}
	looks, err := artifact.ParseHolders(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if err != nil {
		return l.pass(problem.New(problem.Failure, "gowhy memory --help   # to look again", "%q cannot be read: %w", s.name, err))
	}
	if first, last := looks[0], looks[len(looks)-1]; last != first {
		l.covers(spanOfSnapshots, first.Time, last.Time)
	}
	if looks[len(looks)-1].Nameless {
		l.note("variables have no names, for the program was built with -ldflags=-s: go tool nm -n of a build " +
			"with -ldflags=-w says which is at an address")
	}
	l.m.Run.Holders = looks
	return nil
}

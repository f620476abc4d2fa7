package evidence

import (
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// readSyscalls reads what syscallsJSON wrote.
func (l *loader) readSyscalls(s source) error {
	if err := l.take(model.SyscallLog, "system call log", s.name); err != nil {
		return err
	}
	calls, f, err := artifact.ParseSyscalls(ctxReader{l.ctx, s.r})
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if err != nil {
		return l.pass(problem.New(problem.Failure, "", "%q cannot be read: %w", s.name, err))
	}
	l.covers(spanOfSeries, f.Begin, f.End)
	l.m.Syscalls = calls
	return nil
}

package rules

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// Who logs is who waits for the logger's lock, and who writes under it where nobody waits.
func TestLoggerGroups(t *testing.T) {
	const lines = `window 2s procs=2 go=go1.26
stack lock sync.(*Mutex).Lock@mutex.go:46 < log.(*Logger).output@log.go:242 < main.report@main.go:70
stack work main.answer@main.go:120 < main.handle@main.go:80
stack unlock sync.(*Mutex).Unlock@mutex.go:65 < log.(*Logger).output@log.go:245 < main.report@main.go:70
stack write syscall.write@zsyscall.go:964 < os.(*File).Write@file.go:195 < log.(*Logger).output@log.go:244 < main.handle@main.go:84
group main.report count=6 peak=5 run=100ms blocked.sync=400ms start=main.go:66
group main.handle count=9 peak=8 run=500ms syscall=30ms start=main.go:76
wait syscall stack=write group=main.handle count=2900 total=30ms
`
	for _, c := range []struct{ waits, queue, group string }{
		{"wait sync reason=sync stack=lock group=main.report count=900 total=400ms\nwake waker=unlock woken=lock count=890", "main.report", "main.report"},
		{"", "", "main.handle"},
	} {
		p := passOf(t, loggerlock, lines+c.waits)
		l := measureLogging(p)
		if len(l.queue.Groups) > 0 != (c.queue != "") || c.queue != "" && !slices.Equal(l.queue.Groups, []string{c.queue}) {
			t.Errorf("%q: %q wait for the logger, want %q", c.waits, l.queue.Groups, c.queue)
		}
		if f := loggerFinding(p, &l, fact.Fact{}, fact.Fact{}); !slices.Equal(f.Groups, []string{c.group}) {
			t.Errorf("%q: about %q, want %q", c.waits, f.Groups, c.group)
		}
	}
}

//go:build !linux || !(amd64 || arm64)

package kernel

// A Session watches a process from Start to Stop. There are none here.
type Session struct{}

// Start returns [ErrNotAvailable].
func Start(Options) (*Session, error) { return nil, ErrNotAvailable }

// Refusals returns empty.
func (*Session) Refusals() []Refusal { return nil }

// Stop returns [ErrNotAvailable].
func (*Session) Stop() (*Result, error) { return nil, ErrNotAvailable }

// Check tells that nothing is to be had.
func Check() []Permission {
	var all []Permission
	for _, what := range []string{"cpu", "kernel stacks", "offcpu", "syscalls"} {
		all = append(all, Permission{What: what, Why: "not available on this system: it takes Linux on amd64 or arm64"})
	}
	return all
}

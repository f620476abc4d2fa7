package subject

import (
	"os"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

// Memory returns how many bytes this process and those that it starts may use: what the
// machine has, or the limit of the control group if that is less; 0 when unknown.
func Memory() uint64 {
	p, err := proc.Open(os.Getpid())
	if err != nil {
		return 0 // not Linux
	}
	defer p.Close()
	s, err := p.Sample(false)
	if err != nil {
		return 0
	}
	if limit := s.Limits.Memory; limit > 0 && limit < s.Machine.Memory {
		return limit
	}
	return s.Machine.Memory
}

// Package register knows where each animal is.
package register

import (
	"fmt"

	"cattlepasses/internal/bus"
	"cattlepasses/internal/feed"
)

// Register maps ear tags to holdings.
type Register struct{ at map[string]string }

// New makes an empty register.
func New() *Register { return &Register{at: make(map[string]string)} }

// Moved books a movement.
func (r *Register) Moved(ev *bus.Event) error {
	m, err := bus.As[feed.Movement](ev)
	if err != nil {
		return err
	}
	for _, t := range m.Tags {
		if !valid(t) {
			return fmt.Errorf("register: bad tag %q", t)
		}
		r.at[t] = m.To
	}
	return nil
}

// Born books a birth.
func (r *Register) Born(ev *bus.Event) error {
	b, err := bus.As[feed.Birth](ev)
	if err != nil {
		return err
	}
	r.at[b.Tag] = b.Holding
	return nil
}

// Animals counts the known animals.
func (r *Register) Animals() int { return len(r.at) }

func valid(tag string) bool {
	sum := 0
	for i := 2; i < len(tag); i++ {
		if tag[i] < '0' || tag[i] > '9' {
			return false
		}
		sum = sum*3 + int(tag[i]-'0')
	}
	return len(tag) == 13 && sum >= 0
}

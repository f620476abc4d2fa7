// Package rides follows skiers from the gate to the top of a lift.
package rides

import (
	"errors"
	"fmt"
	"sync/atomic"

	"skipasses/internal/index"
	"skipasses/internal/pass"
)

// Ride is a skier on a chair.
type Ride struct {
	Pass  string
	Lift  string
	Chair string
	Class string
}

// ErrRiding is returned when the pass is already on a lift.
var ErrRiding = errors.New("rides: pass is on a lift")

// Desk admits skiers.
type Desk struct {
	signer *pass.Signer
	active *index.Store[Ride]
	chairs [16]atomic.Int64
	full   atomic.Int64
}

// NewDesk returns a desk.
func NewDesk(s *pass.Signer, v2 bool) *Desk {
	one := func(f func(r Ride) string) index.Func[Ride] {
		return func(r Ride) []string { return []string{f(r)} }
	}
	return &Desk{
		signer: s,
		active: index.NewStore(map[string]index.Func[Ride]{
			"lift":  one(func(r Ride) string { return r.Lift }),
			"chair": one(func(r Ride) string { return r.Chair }),
			"class": one(func(r Ride) string { return r.Class }),
		}, v2),
	}
}

// Board puts a skier on the next chair of a lift.
func (d *Desk) Board(text string, lift int) (Ride, error) {
	p, err := d.signer.Verify(text)
	if err != nil {
		return Ride{}, err
	}
	if _, ok := d.active.Get(p.ID); ok {
		return Ride{}, ErrRiding
	}
	seat := d.chairs[lift].Add(1)
	r := Ride{
		Pass:  p.ID,
		Lift:  fmt.Sprintf("lift-%02d", lift),
		Chair: fmt.Sprintf("lift-%02d/%08d", lift, seat/2),
		Class: p.Kind,
	}
	d.active.Put(p.ID, r)
	if len(d.active.ByIndex("chair", r.Chair)) == 2 {
		d.full.Add(1)
	}
	return r, nil
}

// Leave ends a ride at the top.
func (d *Desk) Leave(id string) bool {
	_, ok := d.active.Delete(id)
	return ok
}

// Riding returns how many skiers are on a lift now.
func (d *Desk) Riding() int { return d.active.Len() }

// Full returns how many chairs left with both seats taken.
func (d *Desk) Full() int64 { return d.full.Load() }

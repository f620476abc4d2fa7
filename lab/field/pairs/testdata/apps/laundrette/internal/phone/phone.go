// Package phone tells customers what their machine does.
package phone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"laundrette/internal/machine"
)

// Outbox counts the messages.
type Outbox struct {
	Sent, Bytes atomic.Int64
}

// Phone belongs to one customer.
type Phone struct {
	number string
	store  *machine.Store
	out    *Outbox
}

type message struct {
	To, Machine, Phase, Text, Key string
	Left                          int
}

// New makes a phone.
func New(n int, s *machine.Store, out *Outbox) *Phone {
	return &Phone{number: fmt.Sprintf("+4477009%05d", n), store: s, out: out}
}

// Watch sends a message for each change of a machine until the context ends.
func (p *Phone) Watch(ctx context.Context, id int) {
	var rev uint64
	for {
		st, err := p.store.Await(ctx, id, rev)
		if err != nil {
			return
		}
		rev = st.Revision
		p.tell(st)
	}
}

func (p *Phone) tell(st machine.State) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", p.number, st.ID, st.Revision))
	m := message{
		To:      p.number,
		Machine: fmt.Sprintf("M%03d", st.ID),
		Phase:   st.Phase.String(),
		Text:    fmt.Sprintf("Your machine is in phase %s, about %d minutes left.", st.Phase, int(st.Left.Minutes())),
		Key:     hex.EncodeToString(key[:8]),
		Left:    int(st.Left.Seconds()),
	}
	b, err := json.Marshal(m)
	if err != nil {
		return
	}
	p.out.Sent.Add(1)
	p.out.Bytes.Add(int64(len(b)))
}

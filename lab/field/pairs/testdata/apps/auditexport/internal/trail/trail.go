// Package trail keeps audit entries in blocks, in the order in which they came.
package trail

// Actions are what can be done.
var Actions = []string{"create", "update", "delete", "login"}

// An Entry is something that somebody did.
type Entry struct {
	Actor  string `json:"actor"`
	Action string `json:"action"`
	Object int    `json:"object"`
}

const blockSize = 64

type block struct {
	entries [blockSize]Entry
	n       int
	next    *block
}

// A Trail is a chain of blocks.
type Trail struct{ first, last *block }

// New makes an empty trail.
func New() *Trail {
	b := &block{}
	return &Trail{b, b}
}

// Append adds an entry at the end.
func (t *Trail) Append(e Entry) {
	if t.last.n == blockSize {
		t.last.next = &block{}
		t.last = t.last.next
	}
	t.last.entries[t.last.n] = e
	t.last.n++
}

// A Position is a place between two entries.
type Position struct {
	block *block
	at    int
}

// Start is before the first entry.
func (t *Trail) Start() Position { return Position{t.first, 0} }

// After is up to limit entries with an action after a place, and the place behind them.
func (t *Trail) After(p Position, action string, limit int) ([]Entry, Position) {
	var out []Entry
	for p.block != nil && len(out) < limit {
		if p.at == p.block.n {
			p.block, p.at = p.block.next, 0
			continue
		}
		if e := p.block.entries[p.at]; e.Action == action {
			out = append(out, e)
		}
		p.at++
	}
	return out, p
}

// List is up to limit entries with an action, without the first offset of those.
func (t *Trail) List(action string, offset, limit int) []Entry {
	var out []Entry
	for b := t.first; b != nil; b = b.next {
		for i := range b.n {
			e := &b.entries[i]
			if e.Action != action {
				continue
			}
			if offset > 0 {
				offset--
				continue
			}
			if out = append(out, *e); len(out) == limit {
				return out
			}
		}
	}
	return out
}

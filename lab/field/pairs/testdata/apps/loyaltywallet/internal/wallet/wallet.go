// Package wallet knows the balances of accounts.
package wallet

import (
	"sync"

	"loyaltywallet/internal/events"
)

// lifetime is how many days points may be spent.
const lifetime = 365

type lot struct {
	day  int32
	left int64
}

// State is an account at some point of its history.
type State struct {
	Earned  int64
	Spent   int64
	Visits  int
	lots    []lot
	stores  [32]int
	expired int64
}

func (s *State) apply(e *events.Event) {
	for len(s.lots) > 0 && s.lots[0].day+lifetime < e.Day {
		s.expired += s.lots[0].left
		s.lots = s.lots[1:]
	}
	switch e.Kind {
	case events.Earned, events.Bonus:
		s.Earned += e.Points
		s.lots = append(s.lots, lot{e.Day, e.Points})
	case events.Spent:
		s.Spent += e.Points
		for need := e.Points; need > 0 && len(s.lots) > 0; {
			k := min(need, s.lots[0].left)
			need -= k
			if s.lots[0].left -= k; s.lots[0].left == 0 {
				s.lots = s.lots[1:]
			}
		}
	}
	s.stores[e.Store%32]++
	s.Visits++
}

// Balance is what may be spent.
func (s *State) Balance() int64 {
	var n int64
	for _, l := range s.lots[max(0, len(s.lots)-64):] {
		n += l.left
	}
	return n
}

// Tier is the level of the account.
func (s *State) Tier() string {
	switch {
	case s.Earned > 200000:
		return "gold"
	case s.Earned > 50000:
		return "silver"
	}
	return "basic"
}

type snapshot struct {
	mu    sync.Mutex
	state State
	at    int
}

// Reader gives the state of accounts from their history.
type Reader struct {
	log   *events.Log
	snaps []snapshot
}

func NewReader(l *events.Log, accounts int, kept bool) *Reader {
	r := &Reader{log: l}
	if kept {
		r.snaps = make([]snapshot, accounts)
	}
	return r
}

// View calls f with the present state of an account.
func (r *Reader) View(account int, f func(*State)) {
	if r.snaps != nil {
		s := &r.snaps[account]
		s.mu.Lock()
		defer s.mu.Unlock()
		s.at = r.log.Since(account, s.at, s.state.apply)
		f(&s.state)
		return
	}
	f(r.load(account))
}

func (r *Reader) load(account int) *State {
	s := new(State)
	r.log.Since(account, 0, s.apply)
	return s
}

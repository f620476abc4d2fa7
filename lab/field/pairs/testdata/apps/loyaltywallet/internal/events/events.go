// Package events keeps what happened to the accounts, in order.
package events

import "sync"

type Kind uint8

const (
	Earned Kind = iota
	Spent
	Bonus
)

type Event struct {
	Kind   Kind
	Points int64
	Day    int32
	Store  int32
	Text   string
}

type stream struct {
	mu   sync.RWMutex
	list []Event
}

// Log is the history of all accounts.
type Log struct {
	streams []stream
}

func NewLog(accounts int) *Log { return &Log{streams: make([]stream, accounts)} }

func (l *Log) Append(account int, e Event) {
	s := &l.streams[account]
	s.mu.Lock()
	s.list = append(s.list, e)
	s.mu.Unlock()
}

// Since calls f for the events of an account from a position on.
func (l *Log) Since(account, from int, f func(*Event)) int {
	s := &l.streams[account]
	s.mu.RLock()
	list := s.list
	s.mu.RUnlock()
	for i := from; i < len(list); i++ {
		f(&list[i])
	}
	return len(list)
}

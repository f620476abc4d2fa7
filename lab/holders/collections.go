package main

import (
	"container/list"
	"context"
	"fmt"
	"strings"
)

// What is put into a collection that never gives anything back.
var collections = []program{
	{"global-map", "sessions in a map, which nobody deletes", fillSessions},
	{"lru", "a list of the last ones used, with a bound that is too large", fillRecent},
	{"interned", "words that were interned, once each", internWords},
	{"channel", "a long channel whose receiver is gone", fillQueue},
	{"contexts", "contexts that nobody cancels, below one that lives on", growContexts},
}

// A session is what a visitor has.
type session struct {
	user string
	raw  []byte
}

var sessions = map[string]*session{}

func fillSessions() error {
	for i := 0; i < held/piece; i++ {
		user := fmt.Sprintf("user-%d", i)
		sessions[user] = &session{user, filled(piece)}
	}
	return nil
}

// An lru keeps what was used last.
type lru struct {
	order *list.List
	at    map[int]*list.Element
	most  int
}

// An entry is what an lru has of a key.
type entry struct {
	key   int
	value []byte
}

var recent = &lru{order: list.New(), at: map[int]*list.Element{}, most: 1 << 20}

func (l *lru) put(key int, value []byte) {
	l.at[key] = l.order.PushFront(&entry{key, value})
	for l.order.Len() > l.most {
		last := l.order.Remove(l.order.Back()).(*entry)
		delete(l.at, last.key)
	}
}

func fillRecent() error {
	for i := 0; i < held/piece; i++ {
		recent.put(i, filled(piece))
	}
	return nil
}

var interned = map[string]string{}

func intern(word string) string {
	if known, ok := interned[word]; ok {
		return known
	}
	word = strings.Clone(word)
	interned[word] = word
	return word
}

func internWords() error {
	const size = 256
	for i := 0; i < held/size; i++ {
		intern(fmt.Sprintf("%0*d", size, i))
	}
	collect()
	return nil
}

// A job waits to be done.
type job struct{ payload []byte }

var queue = make(chan *job, held/piece)

func fillQueue() error {
	for i := 0; i < cap(queue); i++ {
		queue <- &job{filled(piece)}
	}
	return nil
}

type requestKey struct{}

var root, _ = context.WithCancel(context.Background())

// begin begins a request, which whoever has its context must cancel.
func begin() (context.Context, context.CancelFunc) {
	return context.WithCancel(context.WithValue(root, requestKey{}, filled(piece)))
}

func growContexts() error {
	for i := 0; i < held/piece; i++ {
		if ctx, _ := begin(); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	collect()
	return nil
}

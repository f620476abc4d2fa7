package main

import (
	"slices"
	"sync"

	"github.com/segmentio/kafka-go"
)

// A progress keeps which messages are done. Workers overtake each other, and to
// commit one says that all before it in its partition are done as well.
type progress struct {
	mu         sync.Mutex
	partitions map[int][]underway
}

// An underway is a message that was read and is not committed, in the order of reading.
type underway struct {
	message kafka.Message
	done    bool
}

// fetched notes a message that was read. One that was read before comes again when
// the group was formed anew: what was under way then is read once more, too.
func (p *progress) fetched(m kafka.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.partitions == nil {
		p.partitions = map[int][]underway{}
	}
	list := p.partitions[m.Partition]
	if n := len(list); n > 0 && m.Offset <= list[n-1].message.Offset {
		list = nil
	}
	p.partitions[m.Partition] = append(list, underway{message: kafka.Message{Topic: m.Topic, Partition: m.Partition, Offset: m.Offset}})
}

// done notes a message whose result is written, and returns those that may be
// committed now, in order.
func (p *progress) done(m kafka.Message) (ready []kafka.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.partitions[m.Partition]
	i, ok := slices.BinarySearchFunc(list, m.Offset, func(u underway, offset int64) int { return int(u.message.Offset - offset) })
	if !ok {
		return nil // it comes again
	}
	list[i].done = true
	for len(list) > 0 && list[0].done {
		ready = append(ready, list[0].message)
		list = list[1:]
	}
	p.partitions[m.Partition] = list
	return ready
}

// Package bus stands for the topic that views and clicks are read from.
package bus

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// An Event is a view of an advertisement, or the click on one.
type Event struct {
	Kind     string `json:"kind"` // view or click
	ID       string `json:"id"`   // of the view
	At       int64  `json:"at"`   // milliseconds
	Campaign string `json:"campaign,omitempty"`
	Page     string `json:"page,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Slot     int    `json:"slot,omitempty"`
}

// A Record is an event in a partition.
type Record struct {
	Partition int
	Value     []byte
}

// A Config is how a topic is written to.
type Config struct {
	Rate       int      // views a second
	Speed      int      // seconds of event time in a second
	Partitions int      // all of them
	Regions    []string // that write to partitions in turn; the last one has a campaign at night only
}

// A Topic makes records up.
type Topic struct {
	Config
	rnd     *rand.Rand
	start   int64
	sent    int
	waiting []Event // clicks that come later
}

// NewTopic returns a topic.
func NewTopic(c Config) *Topic {
	return &Topic{Config: c, rnd: rand.New(rand.NewPCG(3, 5)), start: 1741608000000}
}

// Partitions is how many there are.
func (t *Topic) Partitions() int { return t.Config.Partitions }

// Sent is how many views were sent.
func (t *Topic) Sent() int { return t.sent }

// Consume sends records for a time, and closes the channel.
func (t *Topic) Consume(length time.Duration) <-chan Record {
	out := make(chan Record, 1024)
	go func() {
		defer close(out)
		tick := time.NewTicker(4 * time.Millisecond)
		defer tick.Stop()
		began := time.Now()
		for now := range tick.C {
			passed := min(now.Sub(began), length)
			for due := int(passed.Seconds() * float64(t.Rate)); t.sent < due; {
				for _, r := range t.Next() {
					out <- r
				}
			}
			if passed == length {
				return
			}
		}
	}()
	return out
}

// Next makes the next view, and the clicks that come before it.
func (t *Topic) Next() (out []Record) {
	now := t.start + int64(t.sent)*1000*int64(t.Speed)/int64(t.Rate)
	for len(t.waiting) > 0 && t.waiting[0].At <= now {
		out = append(out, t.record(t.waiting[0]))
		t.waiting = t.waiting[1:]
	}
	view := Event{
		Kind: "view", ID: fmt.Sprintf("%08x-%08x", t.sent, t.rnd.Uint32()), At: now,
		Campaign: fmt.Sprintf("camp-%d", t.rnd.IntN(40)), Slot: t.rnd.IntN(8),
		Page:  fmt.Sprintf("https://news.example/%d/%x?ref=home", t.rnd.IntN(900), t.rnd.Uint64()),
		Agent: fmt.Sprintf("Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101 Firefox/%[1]d.0", 100+t.rnd.IntN(30)),
	}
	t.sent++
	if t.rnd.IntN(20) == 0 {
		t.waiting = append(t.waiting, Event{Kind: "click", ID: view.ID, At: now + 12000})
	}
	return append(out, t.record(view))
}

// record puts an event into a partition of its region.
func (t *Topic) record(e Event) Record {
	value, err := json.Marshal(e)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	awake := t.Config.Partitions
	if t.sent > 200 {
		awake = awake * (len(t.Regions) - 1) / len(t.Regions)
	}
	return Record{Partition: t.sent % awake, Value: value}
}

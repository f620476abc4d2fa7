// Package bus hands messages to those who want them.
package bus

import (
	"encoding/json"
	"fmt"
)

// Event is one message of the scheme.
type Event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	At   int64  `json:"at"`
	Data any    `json:"data"`
}

// Handler takes an event.
type Handler func(*Event) error

// Bus knows the handlers of each type.
type Bus struct{ handlers map[string][]Handler }

// New makes a bus without handlers.
func New() *Bus { return &Bus{handlers: make(map[string][]Handler)} }

// On adds a handler for a type of event.
func (b *Bus) On(typ string, h Handler) { b.handlers[typ] = append(b.handlers[typ], h) }

// Publish calls the handlers of an event.
func (b *Bus) Publish(ev *Event) error {
	for _, h := range b.handlers[ev.Type] {
		if err := h(ev); err != nil {
			return fmt.Errorf("bus: %s %s: %w", ev.Type, ev.ID, err)
		}
	}
	return nil
}

// As returns the data of an event as a T.
func As[T any](ev *Event) (T, error) {
	var out T
	switch d := ev.Data.(type) {
	case T:
		return d, nil
	case *Lazy:
		v, err := d.once(func(raw []byte) (any, error) {
			var v T
			err := json.Unmarshal(raw, &v)
			return v, err
		})
		if err != nil {
			return out, err
		}
		return v.(T), nil
	default:
		b, err := json.Marshal(d)
		if err != nil {
			return out, err
		}
		err = json.Unmarshal(b, &out)
		return out, err
	}
}

// Lazy is data that is decoded when somebody asks for it.
type Lazy struct {
	raw json.RawMessage
	val any
}

// UnmarshalJSON keeps the message.
func (l *Lazy) UnmarshalJSON(b []byte) error {
	l.raw = append(l.raw[:0], b...)
	return nil
}

func (l *Lazy) once(decode func([]byte) (any, error)) (any, error) {
	if l.val == nil {
		v, err := decode(l.raw)
		if err != nil {
			return nil, err
		}
		l.val = v
	}
	return l.val, nil
}

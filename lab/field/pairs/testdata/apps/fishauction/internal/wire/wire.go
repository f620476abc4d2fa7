// Package wire says how events are written to the journal.
package wire

import (
	"encoding/json"
	"hash/crc32"

	"fishauction/internal/bids"
)

// Event is what happened.
type Event struct {
	Seq  int64
	Kind string
	Bid  bids.Bid
}

// Codec writes and reads events.
type Codec interface {
	Encode(Event) ([]byte, error)
	Decode([]byte) (Event, error)
}

// Choose returns the codec of a format.
func Choose(flat bool) Codec {
	if flat {
		return plain{}
	}
	return framed{}
}

type message struct {
	Kind string          `json:"kind"`
	Meta map[string]any  `json:"meta"`
	Body json.RawMessage `json:"body"`
}

type envelope struct {
	Seq     int64  `json:"seq"`
	Topic   string `json:"topic"`
	Sum     uint32 `json:"sum"`
	Payload []byte `json:"payload"`
}

type framed struct{}

func (framed) Encode(e Event) ([]byte, error) {
	body, err := json.Marshal(e.Bid)
	if err != nil {
		return nil, err
	}
	msg, err := json.Marshal(message{Kind: e.Kind, Meta: map[string]any{"crate": e.Bid.Crate, "buyer": e.Bid.Buyer}, Body: body})
	if err != nil {
		return nil, err
	}
	return json.Marshal(envelope{Seq: e.Seq, Topic: "auction." + e.Kind, Sum: crc32.ChecksumIEEE(msg), Payload: msg})
}

func (framed) Decode(b []byte) (e Event, err error) {
	var env envelope
	if err = json.Unmarshal(b, &env); err != nil {
		return e, err
	}
	var msg message
	if err = json.Unmarshal(env.Payload, &msg); err != nil {
		return e, err
	}
	e.Seq, e.Kind = env.Seq, msg.Kind
	return e, json.Unmarshal(msg.Body, &e.Bid)
}

type line struct {
	Seq   int64    `json:"seq"`
	Topic string   `json:"topic"`
	Kind  string   `json:"kind"`
	Bid   bids.Bid `json:"bid"`
}

type plain struct{}

func (plain) Encode(e Event) ([]byte, error) {
	return json.Marshal(line{Seq: e.Seq, Topic: "auction." + e.Kind, Kind: e.Kind, Bid: e.Bid})
}

func (plain) Decode(b []byte) (e Event, err error) {
	var l line
	if err = json.Unmarshal(b, &l); err != nil {
		return e, err
	}
	return Event{Seq: l.Seq, Kind: l.Kind, Bid: l.Bid}, nil
}

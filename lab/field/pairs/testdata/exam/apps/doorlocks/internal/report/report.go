// Package report has what locks send: signed lines of events.
package report

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrSignature is of a report that somebody changed.
var ErrSignature = errors.New("report: the signature does not fit")

// A Code is what happened.
type Code uint16

// The codes.
const (
	Opened Code = iota + 1
	Closed
	Refused
	Forced
)

// An Event is what happened at a door.
type Event struct {
	At   uint32 // second of the day
	Code Code
	User uint16
}

// Size is that of an event in a report.
const Size = 8

// A Signer signs and checks.
type Signer struct{ key uint32 }

// NewSigner makes a signer of a key.
func NewSigner(key []byte) *Signer { return &Signer{crc32.ChecksumIEEE(key)} }

// Sign puts a signature to the end of a report.
func (s *Signer) Sign(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, crc32.Update(s.key, crc32.IEEETable, b))
}

// Check returns a report without its signature.
func (s *Signer) Check(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("%w: %d bytes", ErrSignature, len(b))
	}
	body, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.Update(s.key, crc32.IEEETable, body) != sum {
		return nil, ErrSignature
	}
	return body, nil
}

// Decode reads the event at the beginning.
func Decode(b []byte) Event {
	return Event{
		At:   binary.BigEndian.Uint32(b),
		Code: Code(binary.BigEndian.Uint16(b[4:])),
		User: binary.BigEndian.Uint16(b[6:]),
	}
}

func (e Event) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, e.At)
	b = binary.BigEndian.AppendUint16(b, uint16(e.Code))
	return binary.BigEndian.AppendUint16(b, e.User)
}

// A Building makes up reports.
type Building struct {
	events int
	signer *Signer
	out    [][]byte
}

// NewBuilding makes a building.
func NewBuilding(locks, events int, signer *Signer) *Building {
	return &Building{events: events, signer: signer, out: make([][]byte, locks)}
}

// Reports are those of all locks in a round, good until the next.
func (b *Building) Reports(round int) [][]byte {
	for lock := range b.out {
		body := b.out[lock][:0]
		at := uint32(round*40+lock*7) % 80000
		for i := range b.events {
			e := Event{At: at, Code: Opened, User: uint16(lock*31 + round + i)}
			at += uint32(2 + (lock+i*5)%9)
			switch {
			case i%2 == 1:
				e.Code = Closed
			case (lock+round)%97 == 0:
				e.Code = Forced
			case (lock+i+round)%11 == 0:
				e.Code = Refused
			}
			body = e.append(body)
		}
		b.out[lock] = b.signer.Sign(body)
	}
	return b.out
}

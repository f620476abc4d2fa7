// Package session has the state of a player's visit.
package session

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"
)

// Item is a thing that a player carries.
type Item struct {
	Code  uint32
	Count int32
	Worn  bool
}

// Match is a game that was played.
type Match struct {
	ID       uint64
	Opponent string
	Won      bool
	Ended    time.Time
}

// Session is one player's state.
type Session struct {
	Player, Region string
	Rating         float64
	Version        uint64
	Items          []Item
	Recent         []Match
	Prefs          map[string]string
	Touched        time.Time
}

// Finish notes the end of a match and moves the rating.
func (s *Session) Finish(m Match, opponent float64) {
	expected := 1 / (1 + math.Pow(10, (opponent-s.Rating)/400))
	score := 0.0
	if m.Won {
		score = 1
	}
	s.Rating += 24 * (score - expected)
	s.Recent = append(s.Recent, m)
	if len(s.Recent) > 30 {
		s.Recent = append(s.Recent[:0], s.Recent[len(s.Recent)-30:]...)
	}
	s.Version++
	s.Touched = m.Ended
}

// Digest is the same on all mirrors that have the same state.
func (s *Session) Digest() [32]byte {
	buf := make([]byte, 0, 1024)
	buf = append(append(buf, s.Player...), s.Region...)
	buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(s.Rating))
	buf = binary.LittleEndian.AppendUint64(buf, s.Version)
	for _, it := range s.Items {
		buf = binary.LittleEndian.AppendUint32(buf, it.Code)
		buf = binary.LittleEndian.AppendUint32(buf, uint32(it.Count))
	}
	for _, m := range s.Recent {
		buf = binary.LittleEndian.AppendUint64(buf, m.ID)
		buf = append(buf, m.Opponent...)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Prefs)) {
		buf = append(append(buf, k...), s.Prefs[k]...)
	}
	return sha256.Sum256(buf)
}

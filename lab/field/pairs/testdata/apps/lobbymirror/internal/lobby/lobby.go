// Package lobby plays the matches whose results are mirrored.
package lobby

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lobbymirror/internal/session"
	"lobbymirror/internal/wire"
)

// Lobby has the players of one region.
type Lobby struct {
	name    string
	players []*session.Session
	rng     *rand.Rand
	seq     uint64
}

// New makes a lobby of n players.
func New(name string, n int, seed uint64) *Lobby {
	l := &Lobby{name: name, rng: rand.New(rand.NewPCG(seed, 17))}
	for i := range n {
		s := &session.Session{
			Player: fmt.Sprintf("%s-%05d", name, i), Region: name, Rating: 1200 + 400*l.rng.Float64(),
			Prefs: map[string]string{"lang": "en", "map": "delta", "voice": "off", "skin": "reed"},
		}
		for range 40 + l.rng.IntN(80) {
			s.Items = append(s.Items, session.Item{Code: l.rng.Uint32N(4000), Count: l.rng.Int32N(90), Worn: l.rng.IntN(5) == 0})
		}
		l.players = append(l.players, s)
	}
	return l
}

// Play lets two players meet and sends both updates.
func (l *Lobby) Play(to *wire.Link) error {
	a := l.players[l.rng.IntN(len(l.players))]
	b := l.players[l.rng.IntN(len(l.players))]
	won := l.rng.Float64()*a.Rating > l.rng.Float64()*b.Rating
	id, now := l.rng.Uint64(), time.Now().UTC().Round(time.Second)
	ra, rb := a.Rating, b.Rating
	a.Finish(session.Match{ID: id, Opponent: b.Player, Won: won, Ended: now}, rb)
	b.Finish(session.Match{ID: id, Opponent: a.Player, Won: !won, Ended: now}, ra)
	l.seq += 2
	return errors.Join(
		to.Send(&wire.Update{Origin: l.name, Seq: l.seq, Session: *a, Digest: a.Digest()}),
		to.Send(&wire.Update{Origin: l.name, Seq: l.seq + 1, Session: *b, Digest: b.Digest()}))
}

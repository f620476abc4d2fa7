// Package town is the crowd that chats.
package town

import (
	"encoding/json"
	"math/rand/v2"
	"strings"

	"chatmarkers/internal/events"
	"chatmarkers/internal/markers"
)

// Settle lets n members read their channels once.
func Settle(m markers.Store, n int) {
	for i := range uint32(n) {
		m.Update(1+i%5000, 1+i/4, func(m *markers.Mark) { m.Read = i % 100 })
	}
}

// Talk makes n events of members.
func Talk(n, members int) [][]byte {
	r := rand.New(rand.NewPCG(9, 4))
	words := strings.Fields("anyone up for the late raid tonight we need two healers and somebody who knows the way through the caves")
	list := make([][]byte, n)
	for i := range list {
		id := func() uint32 { return uint32(r.IntN(members)) }
		a := id()
		e := events.Event{Channel: 1 + a%5000, Author: 1 + a/4, Seq: 100 + uint32(i), At: int64(i)}
		for range 10 + r.IntN(30) {
			e.Text += words[r.IntN(len(words))] + " "
		}
		for range 3 + r.IntN(5) {
			e.To = append(e.To, 1+id()/4)
		}
		list[i], _ = json.Marshal(e)
	}
	return list
}

// Package cabinet is an arcade cabinet: it stands idle, and reports a game
// when somebody has played.
package cabinet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"arcadelinks/internal/frame"
	"arcadelinks/internal/scores"
)

// Cabinet has one link to the hub.
type Cabinet struct {
	conn net.Conn
	br   *bufio.Reader
	game scores.Game
}

// Link connects a cabinet.
func Link(addr string, number int) (*Cabinet, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &Cabinet{conn: conn, br: bufio.NewReaderSize(conn, 512)}
	c.game.Title = []string{"comet", "minefield", "joust", "burrow"}[number%4]
	for range 800 {
		c.game.Inputs = append(c.game.Inputs, rand.Uint32N(1<<14))
	}
	return c, nil
}

// Play reports one game and returns the time until the answer.
func (c *Cabinet) Play() (time.Duration, error) {
	c.game.Player = fmt.Sprintf("P%02d", rand.IntN(60))
	c.game.Points = rand.IntN(1 << 20)
	body, err := json.Marshal(c.game)
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if _, err := c.conn.Write(frame.Append(nil, body)); err != nil {
		return 0, err
	}
	answer, err := frame.Read(c.br)
	if err != nil {
		return 0, err
	}
	var rank scores.Rank
	if err := json.Unmarshal(answer, &rank); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// Close ends the link.
func (c *Cabinet) Close() { c.conn.Close() }

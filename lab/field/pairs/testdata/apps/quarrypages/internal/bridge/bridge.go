// Package bridge turns telegrams of the scales into tickets.
package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"quarrypages/internal/board"
)

// Ticket is given to the driver.
type Ticket struct {
	Truck string `json:"truck"`
	Stone string `json:"stone"`
	Net   int    `json:"net"`
	Trip  int    `json:"trip"`
	Price int    `json:"price"`
	Seal  string `json:"seal"`
}

// ErrTelegram is returned for a telegram that cannot be read.
var ErrTelegram = errors.New("bridge: bad telegram")

var prices = map[string]int{"granite": 31, "gravel": 12, "sand": 9, "basalt": 27}

// Desk issues tickets.
type Desk struct{ board *board.Board }

// NewDesk returns a desk that records on a board.
func NewDesk(b *board.Board) *Desk { return &Desk{board: b} }

// Weigh handles one telegram: TRUCK;STONE;GROSS;TARE.
func (d *Desk) Weigh(telegram string) ([]byte, error) {
	f := strings.Split(strings.TrimSpace(telegram), ";")
	if len(f) != 4 {
		return nil, ErrTelegram
	}
	gross, err1 := strconv.Atoi(f[2])
	tare, err2 := strconv.Atoi(f[3])
	if err1 != nil || err2 != nil || gross < tare {
		return nil, ErrTelegram
	}
	l := d.board.Record(f[0], f[1], gross, tare, time.Now())
	t := Ticket{Truck: l.Truck, Stone: l.Stone, Net: l.Net(), Trip: l.Trips}
	t.Price = t.Net * prices[l.Stone] / 1000
	sum := sha256.Sum256([]byte(telegram))
	for range 200 {
		sum = sha256.Sum256(sum[:])
	}
	t.Seal = hex.EncodeToString(sum[:8])
	return json.Marshal(t)
}

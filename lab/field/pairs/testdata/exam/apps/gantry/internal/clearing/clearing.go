// Package clearing is the house that prices passages.
package clearing

import (
	"encoding/json"
	"errors"
	"net"
	"time"

	"gantry/internal/frame"
)

// A Passage is a vehicle under a gantry.
type Passage struct {
	Gantry int    `json:"gantry"`
	Lane   int    `json:"lane"`
	Serial int    `json:"serial"`
	Plate  string `json:"plate,omitempty"`
	Axles  int    `json:"axles"`
	Minute int    `json:"minute"`
	Photo  []byte `json:"photo,omitempty"`
}

// A Receipt is what a passage costs.
type Receipt struct {
	Serial int `json:"serial"`
	Cents  int `json:"cents"`
}

// A Tariff is what a number of axles costs by the hour of the day.
type Tariff struct {
	Axles int
	Cents [24]int
}

// Tariffs are those of this year.
func Tariffs() []Tariff {
	var out []Tariff
	for axles := 2; axles <= 8; axles++ {
		t := Tariff{Axles: axles}
		for hour := range t.Cents {
			t.Cents[hour] = 180 * axles
			if hour >= 7 && hour < 19 {
				t.Cents[hour] += 60 * axles
			}
		}
		out = append(out, t)
	}
	return out
}

// A House answers gantries.
type House struct {
	tariffs []Tariff
	booking time.Duration // what it takes until a passage is booked
}

// NewHouse prices by the tariffs.
func NewHouse(t []Tariff) *House { return &House{tariffs: t, booking: 2 * time.Millisecond} }

var errAxles = errors.New("clearing: no tariff for so many axles")

// Price is what a passage costs.
func (h *House) Price(p *Passage) (int, error) {
	for i := range h.tariffs {
		if t := &h.tariffs[i]; t.Axles == p.Axles {
			return t.Cents[p.Minute/60%24], nil
		}
	}
	return 0, errAxles
}

// Serve takes connections until the listener is closed.
func (h *House) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go h.converse(c)
	}
}

func (h *House) converse(c net.Conn) {
	defer c.Close()
	in, out := frame.NewReader(c), frame.NewWriter(c)
	for {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		kind, payload, err := in.Read()
		if err != nil || kind != frame.Passage {
			return
		}
		kind, answer := h.answer(payload)
		if out.Write(kind, answer) != nil {
			return
		}
	}
}

func (h *House) answer(payload []byte) (frame.Kind, []byte) {
	var p Passage
	if err := json.Unmarshal(payload, &p); err != nil {
		return frame.Refusal, []byte(err.Error())
	}
	cents, err := h.Price(&p)
	if err != nil {
		return frame.Refusal, []byte(err.Error())
	}
	time.Sleep(h.booking)
	answer, err := json.Marshal(Receipt{p.Serial, cents})
	if err != nil {
		return frame.Refusal, []byte(err.Error())
	}
	return frame.Receipt, answer
}

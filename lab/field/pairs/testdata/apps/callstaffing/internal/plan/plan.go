// Package plan makes the shifts of a centre.
package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"callstaffing/internal/forecast"
	"callstaffing/internal/history"
	"callstaffing/internal/staffing"
)

// Need is the agents of a half hour.
type Need struct {
	Day    int     `json:"day"`
	From   string  `json:"from"`
	Calls  float64 `json:"calls"`
	Agents int     `json:"agents"`
}

// Queue is the plan of a queue.
type Queue struct {
	Name  string `json:"name"`
	Peak  int    `json:"peak"`
	Hours int    `json:"hours"`
	Needs []Need `json:"needs"`
}

// Centre is the plan of a centre.
type Centre struct {
	Queues []Queue
	Digest [32]byte
	Halves int
	Hours  int
}

// Make reads the past of a centre and plans its next week.
func Make(raw []byte, p *staffing.Planner) (Centre, error) {
	var c Centre
	queues, err := history.Read(bytes.NewReader(raw))
	if err != nil {
		return c, err
	}
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, q := range queues {
		out := Queue{Name: q.Name}
		week := forecast.Next(q)
		halves := 0
		for day := range week {
			for s, calls := range week[day] {
				n := p.Agents(calls, q.Handle)
				out.Needs = append(out.Needs, Need{
					Day:    day,
					From:   fmt.Sprintf("%02d:%02d", s/2, s%2*30),
					Calls:  calls,
					Agents: n,
				})
				out.Peak = max(out.Peak, n)
				halves += n
				c.Halves++
			}
		}
		out.Hours = (halves + 1) / 2
		c.Hours += out.Hours
		if err := enc.Encode(out); err != nil {
			return c, err
		}
		c.Queues = append(c.Queues, out)
	}
	h.Sum(c.Digest[:0])
	return c, nil
}

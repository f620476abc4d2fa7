// Package notify moves the marks of members and makes their notices.
package notify

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"

	"chatmarkers/internal/events"
	"chatmarkers/internal/markers"
)

// Notice is what the device of a member gets.
type Notice struct {
	Channel uint32 `json:"channel"`
	Unread  uint32 `json:"unread"`
	Badge   int    `json:"badge"`
	Preview string `json:"preview"`
}

// Desk makes notices; it belongs to one goroutine.
type Desk struct {
	Marks markers.Store
	zw    *flate.Writer
	Sent  int
	Bytes int
}

// NewDesk makes a desk over the marks.
func NewDesk(m markers.Store) *Desk {
	zw, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
	return &Desk{Marks: m, zw: zw}
}

// Handle takes one event as it came.
func (d *Desk) Handle(data []byte) error {
	e, err := events.Decode(data)
	if err != nil {
		return err
	}
	d.Marks.Update(e.Channel, e.Author, func(m *markers.Mark) { m.Read, m.Mentions, m.At = e.Seq, 0, e.At })
	var list []Notice
	for _, to := range e.To {
		m := d.Marks.Update(e.Channel, to, func(m *markers.Mark) { m.Mentions++; m.At = e.At })
		if m.Muted {
			continue
		}
		list = append(list, Notice{Channel: e.Channel, Unread: e.Seq - m.Read, Badge: int(m.Mentions), Preview: e.Preview(12)})
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	d.zw.Reset(&packed)
	d.zw.Write(body)
	if err := d.zw.Close(); err != nil {
		return err
	}
	d.Sent += len(list)
	d.Bytes += packed.Len()
	return nil
}

// Package press drives the label presses.
package press

import (
	"bytes"
	"compress/flate"
	"context"
	"time"

	"labelpress/internal/barcode"
)

// Hall has a number of presses that print one label at a time.
type Hall struct {
	presses chan *machine
	pace    time.Duration
}

type machine struct {
	id  int
	buf bytes.Buffer
	z   *flate.Writer
}

func NewHall(n int, pace time.Duration) (*Hall, error) {
	h := &Hall{presses: make(chan *machine, n), pace: pace}
	for i := range n {
		m := &machine{id: i}
		z, err := flate.NewWriter(&m.buf, 3)
		if err != nil {
			return nil, err
		}
		m.z = z
		h.presses <- m
	}
	return h, nil
}

// Print draws the label, packs it for the press and waits until it is printed.
func (h *Hall) Print(ctx context.Context, code string) (int, error) {
	var m *machine
	select {
	case m = <-h.presses:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { h.presses <- m }()
	m.buf.Reset()
	m.z.Reset(&m.buf)
	if _, err := m.z.Write(barcode.Draw(code, 3, 80)); err != nil {
		return 0, err
	}
	if err := m.z.Close(); err != nil {
		return 0, err
	}
	time.Sleep(h.pace)
	return m.buf.Len(), nil
}

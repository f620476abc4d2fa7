// Package hub keeps the links of the cabinets and answers their reports.
package hub

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"arcadelinks/internal/frame"
	"arcadelinks/internal/scores"
)

// Hub serves cabinets.
type Hub struct {
	Table *scores.Table
	Next  bool
	Grace time.Duration // how soon a link notices that the hub stops

	Reports, Refused atomic.Int64
	links            sync.WaitGroup
}

// Serve takes links until ctx ends, then waits for those that are open.
func (h *Hub) Serve(ctx context.Context, l net.Listener) {
	context.AfterFunc(ctx, func() { l.Close() })
	for {
		conn, err := l.Accept()
		if err != nil {
			break
		}
		h.links.Go(func() {
			defer conn.Close()
			if err := h.serve(ctx, conn); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
				log.Print(err)
			}
		})
	}
	h.links.Wait()
}

func (h *Hub) serve(ctx context.Context, conn net.Conn) error {
	br := bufio.NewReaderSize(conn, 2048)
	wait := h.wait
	if h.Next {
		defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Now()) })()
		wait = func(_ context.Context, br *bufio.Reader, _ net.Conn) error { _, err := br.Peek(1); return err }
	}
	var out []byte
	for {
		if err := wait(ctx, br, conn); err != nil {
			return err
		}
		body, err := frame.Read(br)
		if err != nil {
			return err
		}
		rank, err := h.Table.Report(body)
		if err != nil {
			h.Refused.Add(1)
		}
		answer, err := json.Marshal(rank)
		if err != nil {
			return err
		}
		out = frame.Append(out[:0], answer)
		if _, err := conn.Write(out); err != nil {
			return err
		}
		h.Reports.Add(1)
	}
}

// wait returns when the next frame of a link has begun.
func (h *Hub) wait(ctx context.Context, br *bufio.Reader, conn net.Conn) error {
	for ctx.Err() == nil {
		conn.SetReadDeadline(time.Now().Add(h.Grace))
		_, err := br.Peek(1)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		conn.SetReadDeadline(time.Time{})
		return err
	}
	return ctx.Err()
}

package uploads

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"sync/atomic"
)

var (
	errTooLarge = errors.New("uploads: page is too large")
	errStopped  = errors.New("uploads: server is stopping")
)

// transfer is a page on its way in.
type transfer struct {
	office  string
	data    []byte
	n       int
	sum     hash.Hash
	stopped atomic.Bool
}

func newTransfer(office string, size int) *transfer {
	return &transfer{office: office, data: make([]byte, size), sum: sha256.New()}
}

// discard makes the transfer end at its next block.
func (t *transfer) discard() { t.stopped.Store(true) }

// receive reads the page in blocks.
func (t *transfer) receive(ctx context.Context, r io.Reader) error {
	for {
		if t.stopped.Load() {
			return errStopped
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(t.n+8<<10, len(t.data))
		if t.n == end {
			return errTooLarge
		}
		n, err := r.Read(t.data[t.n:end])
		t.sum.Write(t.data[t.n : t.n+n])
		t.n += n
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ink is the share of dark pixels, smoothed over neighbours.
func (t *transfer) ink() float64 {
	px := t.data[:t.n]
	dark := 0
	for i := 2; i < len(px)-2; i++ {
		v := int(px[i-2]) + 2*int(px[i-1]) + 3*int(px[i]) + 2*int(px[i+1]) + int(px[i+2])
		if v < 9*96 {
			dark++
		}
	}
	return float64(dark) / float64(max(1, len(px)))
}

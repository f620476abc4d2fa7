// Package desk takes the orders for labels.
package desk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"

	"labelpress/internal/press"
)

var (
	ErrBusy  = errors.New("desk: come again later")
	ErrOrder = errors.New("desk: bad order")
)

type Order struct {
	Parcel string            `json:"parcel"`
	To     []string          `json:"to"`
	Extra  map[string]string `json:"extra"`
}

type Desk struct {
	hall   *press.Hall
	most   int64
	inside atomic.Int64
	mu     sync.Mutex
	depots map[string]string
}

// New makes a desk; most is how many orders may be inside, 0 for any number.
func New(h *press.Hall, most int) *Desk {
	return &Desk{hall: h, most: int64(most), depots: make(map[string]string)}
}

func (d *Desk) depot(post string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.depots[post]
	if !ok {
		s = "D" + strings.Repeat(post[:1], 3)
		d.depots[post] = s
	}
	return s
}

// Label prints the label for an encoded order.
func (d *Desk) Label(ctx context.Context, body []byte) (int, error) {
	n := d.inside.Add(1)
	defer d.inside.Add(-1)
	if d.most > 0 && n > d.most {
		return 0, ErrBusy
	}
	var o Order
	if err := json.Unmarshal(body, &o); err != nil {
		return 0, err
	}
	if len(o.To) == 0 || len(o.Parcel) == 0 {
		return 0, ErrOrder
	}
	return d.hall.Print(ctx, d.depot(o.To[len(o.To)-1])+o.Parcel)
}

// Package notice writes notices and hands them to the courier.
package notice

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"
	"time"

	"clubnotices/internal/clubs"
)

var letter = template.Must(template.New("letter").Parse(`Dear {{.Club}},
the match of {{.Day.Format "2 January"}} has been moved. The following players are concerned:
{{range .Players}}- {{.Name}} ({{.Side}}), born {{.Born}}
{{end}}`))

// Deliver sends a text to a club.
type Deliver func(ctx context.Context, club int, body []byte) error

// Desk makes notices at a rate.
type Desk struct {
	deliver      Deliver
	dir          *clubs.Directory
	sent, failed atomic.Int64
}

func NewDesk(d Deliver, dir *clubs.Directory) *Desk { return &Desk{deliver: d, dir: dir} }

// Counts returns notices sent and failed.
func (d *Desk) Counts() (sent, failed int64) { return d.sent.Load(), d.failed.Load() }

// Run works until the context is done.
func (d *Desk) Run(ctx context.Context, rate, writers int) {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
				club := rand.IntN(d.dir.Len())
				body, err := d.write(d.dir.Club(club))
				if err == nil {
					err = d.deliver(context.WithoutCancel(ctx), club, body)
				}
				if err != nil {
					d.failed.Add(1)
					continue
				}
				d.sent.Add(1)
			}
		})
	}
	wg.Wait()
}

func (d *Desk) write(c *clubs.Club) ([]byte, error) {
	side, year := c.Members[rand.IntN(len(c.Members))].Side, 1985+rand.IntN(20)
	var players []clubs.Member
	for _, m := range c.Members {
		if m.Side == side && m.Born >= year && strings.HasSuffix(m.Name, "1") {
			players = append(players, m)
		}
	}
	var text bytes.Buffer
	err := letter.Execute(&text, map[string]any{"Club": c.Name, "Day": time.Now(), "Players": players})
	if err != nil {
		return nil, fmt.Errorf("notice: %w", err)
	}
	return json.Marshal(map[string]any{"club": c.ID, "subject": "Match moved", "text": text.String(), "players": players})
}

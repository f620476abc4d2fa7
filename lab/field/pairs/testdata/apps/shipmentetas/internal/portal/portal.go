// Package portal is the page on which customers follow a shipment.
package portal

import (
	"bytes"
	"fmt"
	"html/template"
	"math/rand/v2"
	"sync"
	"time"

	"shipmentetas/internal/roads"
	"shipmentetas/internal/watch"
)

var page = template.Must(template.New("page").Parse(`<!doctype html><title>Shipment {{.No}}</title>
<h1>Shipment {{.No}}</h1><p>Arrives at {{.ETA.Format "15:04"}} on {{.ETA.Format "Monday, 2 January"}}</p>
<p>Estimate has changed {{.Changes}} times.</p><ol>
{{range .Stops}}<li>{{.Name}}: {{printf "%.1f" .Km}} km</li>
{{end}}</ol>`))

type stop struct {
	Name string
	Km   float64
}

// Stats of the portal.
type Stats struct {
	Visits, Pages, Bytes, Open int
	Delay                      time.Duration
}

// Portal serves visits.
type Portal struct {
	center *watch.Center
	net    *roads.Net

	mu    sync.Mutex
	stats Stats
}

func New(c *watch.Center, net *roads.Net) *Portal { return &Portal{center: c, net: net} }

// Run lets visitors come at the rate.
func (p *Portal) Run(rate int, d time.Duration) Stats {
	end := time.Now().Add(d)
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var wg sync.WaitGroup
	for no := 0; time.Now().Before(end); no++ {
		<-tick.C
		wg.Go(func() { p.visit(no, end) })
	}
	open := p.center.Open()
	wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Open = open
	if p.stats.Pages > 0 {
		p.stats.Delay /= time.Duration(p.stats.Pages)
	}
	return p.stats
}

// visit is a customer who looks at the page a few times and leaves.
func (p *Portal) visit(no int, end time.Time) {
	rnd := rand.New(rand.NewPCG(uint64(no), 6))
	left := time.Now().Add(-time.Duration(rnd.IntN(180)) * time.Minute)
	route := p.net.Route(rnd.IntN(1<<20), 500+rnd.IntN(300))
	w := p.center.Watch(route, left)
	defer w.Close()
	for range 1 + rnd.IntN(3) {
		p.show(no, w, route, left)
		if time.Now().After(end) {
			break
		}
		time.Sleep(time.Duration(150+rnd.IntN(500)) * time.Millisecond)
	}
	p.mu.Lock()
	p.stats.Visits++
	p.mu.Unlock()
}

func (p *Portal) show(no int, w *watch.Watch, route []roads.Leg, left time.Time) {
	eta, changes := w.ETA()
	var stops []stop
	km := 0.0
	for i, l := range route {
		km += l.Metres / 1000
		if i%20 == 0 {
			stops = append(stops, stop{fmt.Sprintf("Junction %d/%d", l.From%97, l.To), km})
		}
	}
	var out bytes.Buffer
	if err := page.Execute(&out, map[string]any{"No": no, "ETA": eta, "Changes": changes, "Stops": stops}); err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Pages++
	p.stats.Bytes += out.Len()
	p.stats.Delay += eta.Sub(left)
}

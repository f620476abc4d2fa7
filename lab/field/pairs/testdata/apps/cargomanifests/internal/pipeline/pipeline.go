// Package pipeline settles a manifest: parse, assess, stamp, print in the order of the lines.
package pipeline

import (
	"context"
	"log"

	"cargomanifests/internal/manifest"
	"cargomanifests/internal/tariff"
)

// Pipeline connects the stages.
type Pipeline struct {
	Tariff  *tariff.Client
	Printer *manifest.Printer
	Ahead   int
	V2      bool

	Settled  int
	Duties   int64
	Rejected int
}

// Run works until lines is closed.
func (p *Pipeline) Run(ctx context.Context, lines <-chan string) error {
	parsed := make(chan *manifest.Entry, p.Ahead)
	go p.parse(lines, parsed)
	assessed := make(chan *manifest.Entry, p.Ahead)
	if p.V2 {
		go p.assessAhead(ctx, parsed, assessed)
	} else {
		go p.assess(ctx, parsed, assessed)
	}
	stamped := make(chan *manifest.Entry, p.Ahead)
	go func() {
		defer close(stamped)
		for e := range assessed {
			manifest.Stamp(e)
			stamped <- e
		}
	}()
	for e := range stamped {
		if err := p.Printer.Print(e); err != nil {
			return err
		}
		p.Settled++
		p.Duties += e.Duty
	}
	return p.Printer.Close()
}

func (p *Pipeline) parse(lines <-chan string, out chan<- *manifest.Entry) {
	defer close(out)
	for l := range lines {
		e, err := manifest.Parse(l)
		if err != nil {
			p.Rejected++
			continue
		}
		out <- e
	}
}

func (p *Pipeline) assess(ctx context.Context, in <-chan *manifest.Entry, out chan<- *manifest.Entry) {
	defer close(out)
	for e := range in {
		if err := p.Tariff.Assess(ctx, e); err != nil {
			log.Print(err)
			continue
		}
		out <- e
	}
}

func (p *Pipeline) assessAhead(ctx context.Context, in <-chan *manifest.Entry, out chan<- *manifest.Entry) {
	defer close(out)
	order := make(chan chan *manifest.Entry, p.Ahead)
	go func() {
		defer close(order)
		for e := range in {
			slot := make(chan *manifest.Entry, 1)
			order <- slot
			go func() {
				defer close(slot)
				if err := p.Tariff.Assess(ctx, e); err != nil {
					log.Print(err)
					return
				}
				slot <- e
			}()
		}
	}()
	for slot := range order {
		if e, ok := <-slot; ok {
			out <- e
		}
	}
}

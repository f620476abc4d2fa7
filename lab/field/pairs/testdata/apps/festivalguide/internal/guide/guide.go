// Package guide serves the festival's "what is on next" page.
package guide

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"festivalguide/internal/profile"
	"festivalguide/internal/programme"
)

// Guide is the handler of /next.
type Guide struct {
	Programme *programme.Programme
	Profiles  *profile.Client
	V2        bool
}

type card struct {
	programme.Gig
	Profile profile.Profile `json:"profile"`
	Known   bool            `json:"known"`
}

func (g *Guide) cards(ctx context.Context, gigs []programme.Gig) []card {
	out := make([]card, len(gigs))
	if g.V2 {
		var wg sync.WaitGroup
		for i, gig := range gigs {
			wg.Go(func() { out[i] = g.card(ctx, gig) })
		}
		wg.Wait()
		return out
	}
	for i, gig := range gigs {
		out[i] = g.card(ctx, gig)
	}
	return out
}

func (g *Guide) card(ctx context.Context, gig programme.Gig) card {
	c := card{Gig: gig}
	if p, err := g.Profiles.Get(ctx, gig.Act); err == nil {
		c.Profile, c.Known = p, true
	}
	return c
}

// ServeHTTP answers with gzipped JSON.
func (g *Guide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	day, err := strconv.Atoi(r.FormValue("day"))
	if err != nil {
		http.Error(w, "day is missing", http.StatusBadRequest)
		return
	}
	minute, _ := strconv.Atoi(r.FormValue("minute"))
	gigs := g.Programme.Next(day, time.Duration(minute)*time.Minute, 8)
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err := json.NewEncoder(z).Encode(g.cards(r.Context(), gigs)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = z.Close()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(buf.Bytes())
}

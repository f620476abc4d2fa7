// Package trials holds the running experiments and places visitors in their arms.
package trials

import (
	"fmt"
	"hash/fnv"
	"math/rand"
)

// Arm is one variant of an experiment with its share of the traffic.
type Arm struct {
	Name  string
	Share float64
}

// Trial is one experiment on some pages.
type Trial struct {
	Key     string
	Pages   map[string]bool
	Country string
	Traffic float64
	Arms    []Arm
}

// Registry has all trials and the layout of places.
type Registry struct {
	trials []Trial
	compat bool
}

// NewRegistry returns a registry for the trials given.
func NewRegistry(list []Trial, compat bool) *Registry {
	return &Registry{trials: list, compat: compat}
}

// Placement says which arm a visitor sees.
type Placement struct {
	Trial string `json:"trial"`
	Arm   string `json:"arm"`
}

// Place returns the arms of all trials that run on the page.
func (r *Registry) Place(visitor, page, country string) []Placement {
	out := make([]Placement, 0, 8)
	for i := range r.trials {
		t := &r.trials[i]
		if !t.Pages[page] || (t.Country != "" && t.Country != country) {
			continue
		}
		if r.draw(visitor, t.Key+"/in") >= t.Traffic {
			continue
		}
		out = append(out, Placement{Trial: t.Key, Arm: t.arm(r.draw(visitor, t.Key))})
	}
	return out
}

func (t *Trial) arm(x float64) string {
	for _, a := range t.Arms {
		if x < a.Share {
			return a.Name
		}
		x -= a.Share
	}
	return t.Arms[len(t.Arms)-1].Name
}

// draw gives the visitor's stable number in [0,1) for a salt.
func (r *Registry) draw(visitor, salt string) float64 {
	h := fnv.New64a()
	h.Write([]byte(visitor))
	h.Write([]byte{':'})
	h.Write([]byte(salt))
	sum := h.Sum64()
	if !r.compat {
		return rand.New(rand.NewSource(int64(sum))).Float64()
	}
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	sum ^= sum >> 33
	return float64(sum>>11) / (1 << 53)
}

// Sample makes the trials of a shop.
func Sample() []Trial {
	pages := []string{"home", "list", "product", "basket", "checkout", "account"}
	countries := []string{"", "", "", "de", "fr"}
	var list []Trial
	for i := range 34 {
		t := Trial{
			Key:     fmt.Sprintf("exp-%03d", i),
			Pages:   map[string]bool{},
			Country: countries[i%len(countries)],
			Traffic: 0.3 + float64(i%7)/10,
			Arms:    []Arm{{"control", 0.5}, {"a", 0.25}, {"b", 0.25}},
		}
		t.Pages[pages[i%len(pages)]] = true
		t.Pages[pages[(i*5+2)%len(pages)]] = true
		list = append(list, t)
	}
	return list
}

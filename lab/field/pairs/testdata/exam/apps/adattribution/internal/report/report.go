// Package report counts views and clicks of campaigns.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"adattribution/internal/bus"
)

type key struct {
	campaign string
	slot     int
}

type counts struct{ views, clicks int }

// Campaigns are those that were seen.
type Campaigns struct{ by map[key]*counts }

// NewCampaigns returns an empty report.
func NewCampaigns() *Campaigns { return &Campaigns{by: map[key]*counts{}} }

// Add counts a view or its click.
func (c *Campaigns) Add(view bus.Event, clicked bool) {
	k := key{view.Campaign, view.Slot}
	n := c.by[k]
	if n == nil {
		n = &counts{}
		c.by[k] = n
	}
	if clicked {
		n.clicks++
		return
	}
	n.views++
}

// Best returns the n slots of campaigns that were clicked most.
func (c *Campaigns) Best(n int) []string {
	keys := slices.SortedFunc(maps.Keys(c.by), func(a, b key) int {
		return cmp.Or(cmp.Compare(c.by[b].clicks, c.by[a].clicks), cmp.Compare(a.campaign, b.campaign), cmp.Compare(a.slot, b.slot))
	})
	var out []string
	for _, k := range keys[:min(n, len(keys))] {
		out = append(out, fmt.Sprintf("%s/%d: %d of %d", k.campaign, k.slot, c.by[k].clicks, c.by[k].views))
	}
	return out
}

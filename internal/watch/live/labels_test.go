package live

import (
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// TestLabels: groups that are told as one have their labels counted together, the most first.
func TestLabels(t *testing.T) {
	part := func(n int, words ...string) goroutines.Part {
		p := goroutines.Part{Count: n}
		for i := 0; i < len(words); i += 2 {
			p.Labels = append(p.Labels, goroutines.Label{Key: words[i], Value: words[i+1]})
		}
		return p
	}
	group := func(n int, parts ...goroutines.Part) goroutines.Group {
		return goroutines.Group{Start: symbols.Place{Func: "main.work"}, State: goroutines.Waiting, Reason: "select", Count: n, Parts: parts}
	}
	s := &goroutines.Snapshot{Time: time.Unix(100, 0), Count: 103, Groups: []goroutines.Group{
		group(60, part(20, "route", "/users"), part(15, "route", "/orders", "zone", "b"), part(3, "route", "/a"), part(22)),
		group(40, part(10, "route", "/orders", "zone", "b"), part(2, "route", "/b"), part(28)), group(3),
		{Start: symbols.Place{Func: "main.rest"}, State: goroutines.Waiting, Count: 1},
	}}
	got := (&target{}).tell(s, 0).Groups
	want := []LabelGroup{{"route=/orders zone=b", 25}, {"route=/users", 20}, {"route=/a", 3}}
	if len(got) != 2 || !slices.Equal(got[0].Labels, want) || got[0].LabelSets != 4 || got[1].Labels != nil || got[1].LabelSets != 0 {
		t.Errorf("groups are %+v, want the first with %v of 4", got, want)
	}
}

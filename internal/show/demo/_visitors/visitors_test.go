package visitors

import (
	"flag"
	"testing"
)

var (
	work  = flag.Int("work", 28_000, "`NUMBER` of visits")
	fixed = flag.Bool("fixed", false, "look visitors up in a map")
)

func TestDistinct(t *testing.T) {
	count := distinct
	if *fixed {
		count = distinctFixed
	}
	if n := count(visits(*work)); n != *work {
		t.Errorf("%d different visitors, want %d", n, *work)
	}
}

package goversionstring

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/hashicorp/go-version"
)

func tags(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("v%d.%d.%d-rc.%d+build%d", i%3, i*7%20, i*13%50, i%4, i))
	}
	return all
}

// list are the versions in their order, as a page shows them.
func list(tags []string) (string, error) {
	var all []*version.Version
	for _, tag := range tags {
		v, err := version.NewVersion(tag)
		if err != nil {
			return "", err
		}
		all = append(all, v)
	}
	sort.Sort(version.Collection(all))
	var b strings.Builder
	for _, v := range all {
		b.WriteString(v.String())
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func BenchmarkList(b *testing.B) {
	all := tags(300)
	for b.Loop() {
		if _, err := list(all); err != nil {
			b.Fatal(err)
		}
	}
}

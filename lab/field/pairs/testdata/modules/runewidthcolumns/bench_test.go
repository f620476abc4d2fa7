package runewidthcolumns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
)

type song struct {
	title, artist, length string
}

func songs(n int) (all []song) {
	for i := range n {
		all = append(all, song{fmt.Sprintf("Song über den Fluß, no. %d — “live”", i), fmt.Sprint("Ensemble №", i%12), fmt.Sprintf("%d′ %d″", i%7, i%60)})
	}
	return all
}

// list shows songs in columns, as wide as they are in an East Asian terminal.
func list(c *runewidth.Condition, all []song) string {
	title, artist := 0, 0
	for _, s := range all {
		title, artist = max(title, c.StringWidth(s.title)), max(artist, c.StringWidth(s.artist))
	}
	var b strings.Builder
	for _, s := range all {
		b.WriteString(c.FillRight(s.title, title+2))
		b.WriteString(c.FillRight(s.artist, artist+2))
		b.WriteString(s.length)
		b.WriteByte('\n')
	}
	return b.String()
}

func BenchmarkList(b *testing.B) {
	c := &runewidth.Condition{EastAsianWidth: true}
	all := songs(300)
	for b.Loop() {
		if list(c, all) == "" {
			b.Fatal("there are no songs")
		}
	}
}

package transcript

import (
	"flag"
	"strings"
	"testing"
	"time"
)

var plain = flag.Bool("plain", false, "add strings")

func meeting(n int) (all []Remark) {
	who := strings.Fields("Ann Bob Cleo Dan")
	for i := range n {
		all = append(all, Remark{time.Duration(i) * 20 * time.Second, who[i*i%4], "I think that we should do it before the end of the year."})
	}
	return all
}

func BenchmarkText(b *testing.B) {
	remarks := meeting(600)
	text := Build
	if *plain {
		text = Text
	}
	for b.Loop() {
		if got := text(remarks); len(got) < 600*50 {
			b.Fatal(len(got))
		}
	}
}

// Command mailarchive takes messages in and makes them searchable.
package main

import (
	"flag"
	"fmt"
	"time"

	"mailarchive/internal/feed"
	"mailarchive/internal/index"
	"mailarchive/internal/mime"
	"mailarchive/internal/screen"
)

type archive struct {
	scr *screen.Screen
	idx *index.Index
}

func (a *archive) accept(data []byte) error {
	m, err := mime.Parse(data)
	if err != nil {
		return err
	}
	score := a.scr.Sender(m.From)
	digest, words := a.scr.Text(m.Text)
	a.idx.Add(m, digest, score, words)
	return nil
}

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 700, "messages per second")
	v2 := flag.Bool("v2", true, "second version of the service")
	flag.Parse()

	a := &archive{scr: screen.New(), idx: index.New(*v2)}
	src := feed.New(5)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	ops, bad, shown := 0, 0, 0
	for time.Since(begin) < *run {
		<-tick.C
		due := int(time.Since(begin).Seconds() * float64(*rate))
		for ops < due {
			if a.accept(src.Next()) != nil {
				bad++
			}
			ops++
			if ops%100 == 0 {
				shown += len(a.idx.Latest(20))
			}
		}
	}
	n, th := a.idx.Size()
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("%d messages in the index, %d threads, %d rejected, %d shown\n", n, th, bad, shown)
}

// Command substationfeed rolls the measurements of substations up and archives them.
package main

import (
	"flag"
	"fmt"
	"log"
	"sync"
	"time"

	"substationfeed/internal/archive"
	"substationfeed/internal/rollup"
	"substationfeed/internal/tags"
	"substationfeed/internal/telegram"
)

type collector struct {
	table   rollup.Table
	out     archive.Writer
	packet  telegram.Telegram
	base    tags.Set
	own     tags.Set
	joined  tags.Set
	append  bool
	samples int
}

func (c *collector) take(raw string) error {
	if err := c.packet.Decode(raw); err != nil {
		return err
	}
	c.base = tags.Parse(c.base[:0], c.packet.Tags)
	for _, s := range c.packet.Samples {
		c.own = tags.Parse(c.own[:0], s.Tags)
		series := c.table.Get(c.identity())
		series.Add(s.Value)
		if err := c.out.Put(series, s.Value, s.At); err != nil {
			return err
		}
		c.samples++
	}
	return nil
}

func (c *collector) identity() tags.Set {
	if c.append {
		c.joined = tags.AppendJoin(c.joined[:0], c.base, c.own)
		return c.joined
	}
	return tags.Join(c.base, c.own)
}

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	appended := flag.Bool("append", true, "use the appending form of identities")
	flag.Parse()

	feed := telegram.Generate(400, 10)
	end := time.Now().Add(*span)
	var wg sync.WaitGroup
	var all [2]*collector
	for i := range all {
		c := &collector{table: rollup.Table{}, append: *appended}
		all[i] = c
		wg.Go(func() {
			for n := i; time.Now().Before(end); n += len(all) {
				if err := c.take(feed[n%len(feed)]); err != nil {
					log.Print(err)
				}
			}
		})
	}
	wg.Wait()

	var samples, series, bytes int
	var top float64
	for _, c := range all {
		samples += c.samples
		series += len(c.table)
		bytes += c.out.Bytes
		for _, s := range c.table {
			top = max(top, s.Max)
		}
	}
	fmt.Printf("operations: %d\n", samples)
	fmt.Printf("%d series, %d bytes archived, largest value %.3f\n", series, bytes, top)
}

// Bigcachesessions keeps the sessions of visitors in bigcache while they come back at a rate.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/allegro/bigcache/v3"
)

type session struct {
	Visitor int       `json:"visitor"`
	Seen    time.Time `json:"seen"`
	Pages   []string  `json:"pages"`
}

// visit adds a page to the session of a visitor, or begins one.
func visit(cache *bigcache.BigCache, visitor int, page string) error {
	key := "session:" + strconv.Itoa(visitor)
	s := session{Visitor: visitor}
	text, err := cache.Get(key)
	switch {
	case errors.Is(err, bigcache.ErrEntryNotFound):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
	}
	s.Seen = time.Now()
	if s.Pages = append(s.Pages, page); len(s.Pages) > 8 {
		s.Pages = s.Pages[1:]
	}
	if text, err = json.Marshal(&s); err != nil {
		return err
	}
	return cache.Set(key, text)
}

// A burst is what comes in one hundredth of a second.
const bursts = 100

func main() {
	rate := flag.Int("rate", 100, "visits a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config := bigcache.DefaultConfig(10 * time.Minute)
	config.Verbose = false
	config.HardMaxCacheSize = 64
	config.MaxEntriesInWindow = 20000
	cache, err := bigcache.New(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	defer cache.Close()
	tick := time.NewTicker(time.Second / bursts)
	defer tick.Stop()
	start, n := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			fmt.Printf("operations: %d\n", n)
			return
		case <-tick.C:
		}
		for due := int(time.Since(start).Seconds() * float64(*rate)); n < due && ctx.Err() == nil; n++ {
			if err := visit(cache, rand.IntN(20000), "/page/"+strconv.Itoa(n%300)); err != nil {
				log.Fatal(err)
			}
		}
	}
}

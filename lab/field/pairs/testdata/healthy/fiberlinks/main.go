// Fiberlinks shortens links, made with fiber: each short name redirects to its address and is
// counted, and a list shows how often.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/recover"
)

type link struct {
	address string
	visits  atomic.Int64
}

type links struct {
	mu     sync.RWMutex
	byName map[string]*link
	names  []string // in the order in which they were made
}

func (l *links) get(name string) *link {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.byName[name]
}

// An entry is a link as it is shown to its owner.
type entry struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Visits  int64  `json:"visits"`
}

// first are some links, in the order in which they were made.
func (l *links) first(n int) []entry {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n = max(0, min(n, 500, len(l.names)))
	out := make([]entry, 0, n)
	for _, name := range l.names[:n] {
		one := l.byName[name]
		out = append(out, entry{name, one.address, one.visits.Load()})
	}
	return out
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	all := &links{byName: map[string]*link{}}
	for i := range 5000 {
		name := "l" + strconv.Itoa(i)
		all.names = append(all.names, name)
		all.byName[name] = &link{address: "https://www.example.org/pages/" + strconv.Itoa(i)}
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ReadTimeout: 30 * time.Second})
	app.Use(recover.New())
	app.Get("/top", func(c *fiber.Ctx) error {
		return c.JSON(all.first(c.QueryInt("count", 100)))
	})
	app.Get("/:name", func(c *fiber.Ctx) error {
		one := all.get(c.Params("name"))
		if one == nil {
			return fiber.ErrNotFound
		}
		one.visits.Add(1)
		return c.Redirect(one.address, fiber.StatusFound)
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		_ = app.ShutdownWithTimeout(2 * time.Second)
	}()
	fmt.Println("listening")
	if err := app.Listener(l); err != nil {
		log.Fatal(err)
	}
}

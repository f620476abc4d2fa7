// Echotasks is a service of tasks made with echo: the open ones of an owner, and new ones.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

type task struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Done  bool   `json:"done"`
	Owner string `json:"owner"`
}

// most is how many tasks of an owner are kept.
const most = 250

type tasks struct {
	mu      sync.RWMutex
	byOwner map[string][]task
	next    int
}

func (t *tasks) add(title, owner string) task {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := task{ID: t.next, Title: title, Owner: owner, Done: t.next%3 == 0}
	t.next++
	all := t.byOwner[owner]
	if len(all) == most {
		all = slices.Delete(all, 0, 1)
	}
	t.byOwner[owner] = append(all, one)
	return one
}

func (t *tasks) of(owner string, limit int) []task {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]task, 0, limit)
	for _, one := range t.byOwner[owner] {
		if !one.Done {
			if out = append(out, one); len(out) == limit {
				break
			}
		}
	}
	return out
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	t := &tasks{byOwner: map[string][]task{}}
	for i := range 8 * most {
		t.add("task "+strconv.Itoa(i), "owner"+strconv.Itoa(i%8))
	}
	e := echo.New()
	e.Use(middleware.Recover(), middleware.RequestID(), middleware.BodyLimit("64K"))
	e.GET("/owners/:owner/tasks", func(c echo.Context) error {
		return c.JSON(http.StatusOK, t.of(c.Param("owner"), 150))
	})
	e.POST("/tasks", func(c echo.Context) error {
		var in struct{ Title, Owner string }
		if err := c.Bind(&in); err != nil {
			return err
		}
		return c.JSON(http.StatusCreated, t.add(in.Title, in.Owner))
	})
	server := &http.Server{Handler: e, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}

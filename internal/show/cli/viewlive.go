package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/show/web"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// processes returns those that words name, each a number or the URL of a server.
func processes(ctx context.Context, words []string) (pids []int, err error) {
	for _, word := range words {
		pid, err := strconv.Atoi(word)
		switch {
		case err == nil && pid > 0:
		case strings.ContainsAny(word, ":/"):
			if pid, err = record.ProcessAt(ctx, word); err != nil {
				return nil, err
			}
		default:
			return nil, usageError("gowhy list", "%q is no number of a process", word)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// watchPrograms begins to watch. Of programs that were chosen one must be there.
func (c *command) watchPrograms(o live.Options) (*live.History, error) {
	w, err := live.New(o)
	if errors.Is(err, proc.ErrSystem) {
		return nil, problem.New(problem.Absence, "gowhy record --help   # records by an address, --url", "programs cannot be watched: %w", err)
	}
	if err != nil {
		return nil, err
	}
	h := live.Remember(w)
	f, err := h.Refresh() // rates are between two readings: this is the first
	if err == nil && len(f.Processes) == 0 && f.Absent(o.PIDs) != nil {
		err = problem.New(problem.Absence, "gowhy list", "%w", f.Absent(o.PIDs))
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// viewLive serves the page of programs while they run.
func (c *command) viewLive(ctx context.Context, words []string, o *viewOptions) error {
	pids, err := processes(ctx, words)
	if err != nil {
		return err
	}
	h, err := c.watchPrograms(live.Options{PIDs: pids, Stacks: true, Rules: c.Rules, Budget: o.budget / 100})
	if err != nil {
		return err
	}
	defer h.Close()
	if n, _ := h.News(0, live.Cursor{}); len(pids) > 0 && n.Process == nil {
		return problem.New(problem.Absence, "gowhy list", "process %d is no Go program", pids[0])
	}
	l, err := listenLoopback(o.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := c.newServer(&o.reading, h)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	if _, err = fmt.Fprintln(c.Stdout, s.URL(l.Addr())); err == nil {
		c.invite(s, l.Addr(), o.noOpen)
		err = h.Run(ctx)
	}
	stop()
	return errors.Join(err, <-served)
}

// A livePage is the page of a program that the terminal shows. Its server begins
// when somebody wants it.
type livePage struct {
	c       *command
	ctx     context.Context
	h       *live.History
	once    sync.Once
	s       *web.Server
	at      net.Addr
	err     error
	serving sync.WaitGroup
}

// open brings the reader to the page of a program, and returns its address.
func (p *livePage) open(pid int) (string, error) {
	p.once.Do(p.serve)
	if p.err != nil {
		return "", p.err
	}
	if os.Getenv("SSH_CONNECTION") == "" || os.Getenv("BROWSER") != "" {
		if b := browser(fmt.Sprintf("%s#/live?pid=%d", p.s.Invitation(p.at), pid)); b != nil && b.Start() == nil {
			go func() { _ = b.Wait() }() // its end is its own affair
		}
	}
	return fmt.Sprintf("%s#/live?pid=%d", p.s.URL(p.at), pid), nil
}

func (p *livePage) serve() {
	l, err := listenLoopback("127.0.0.1:0")
	if err != nil {
		p.err = err
		return
	}
	p.at = l.Addr()
	if p.s, p.err = p.c.newServer(&viewReading{}, p.h); p.err != nil {
		l.Close()
		return
	}
	p.serving.Go(func() {
		defer l.Close()
		_ = p.s.Serve(p.ctx, l) // the page says when nobody answers
	})
}

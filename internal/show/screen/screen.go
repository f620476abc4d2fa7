// Package screen shows a live view on a terminal: a list of programs as htop shows
// processes, one program with its goroutines, and the keys for both.
//
// It hides the terminal, what fits into how many columns, where a click went, and
// what must not reach a terminal from the name of a program. [Run] shows frames
// of a [Watcher] until the user has seen enough.
package screen

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// A Watcher is what is shown.
type Watcher interface {
	Refresh() (*live.Frame, error)
	// Attend has a program judged all the time; with trace its next piece has a trace.
	Attend(pid int, trace bool)
	// Keep writes a recording of what the program did last.
	Keep(pid int, to string) error
	// ShowAll has other processes in the frames too.
	ShowAll(all bool)
	// ShowThreads has the threads of a program in the frames; 0 is none.
	ShowThreads(pid int)
}

// Options say how.
type Options struct {
	Screen tcell.Screen  // nil is the terminal's own
	Every  time.Duration // between refreshes
	Open   int           // a program to begin with; 0 is the list
	All    bool          // the frames have all processes
	Plain  bool          // without colours
	// Page opens the page of a program and tells its address; nil where there is none.
	Page func(pid int) (string, error)
}

// ErrTerminal is the error of [Run] when there is no terminal, or none that it can use.
var ErrTerminal = errors.New("the terminal cannot be used")

// first is how soon a frame comes after another: rates need some time between two readings.
const first = 100 * time.Millisecond

// A fresh is a frame that has come, or why none did.
type fresh struct {
	frame *live.Frame
	err   error
}

// Run shows frames until the user quits, ctx ends or the terminal is closed.
func Run(ctx context.Context, from Watcher, o Options) error {
	s := o.Screen
	if s == nil {
		var err error
		if s, err = tcell.NewScreen(); err != nil {
			return fmt.Errorf("%w: %w", ErrTerminal, err)
		}
	}
	if err := s.Init(); err != nil {
		return fmt.Errorf("%w: %w", ErrTerminal, err)
	}
	defer s.Fini()
	s.EnableMouse(tcell.MouseButtonEvents)
	for r, instead := range fallbacks {
		s.RegisterRuneFallback(r, instead)
	}
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer cancel()
	v := newView(from, o)
	context.AfterFunc(ctx, func() { s.PostEvent(tcell.NewEventInterrupt(nil)) })
	go refresh(ctx, from, o.Every, v.hurry, func(f fresh) { s.PostEvent(tcell.NewEventInterrupt(f)) })
	for {
		switch e := s.PollEvent().(type) {
		case nil:
			return nil
		case *tcell.EventInterrupt:
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if f, ok := e.Data().(fresh); ok {
				if f.err != nil {
					return f.err
				}
				v.take(f.frame)
			}
		case *tcell.EventResize:
			s.Sync()
		case *tcell.EventKey:
			v.key(e)
		case *tcell.EventMouse:
			v.mouse(e)
		case *tcell.EventError: // nobody can see it any more
			return e
		}
		switch {
		case v.quit:
			return nil
		case v.suspend:
			v.suspend = false
			if err := suspend(s); err != nil {
				return err
			}
			v.grid = grid{} // what the terminal shows now is others'
		}
		v.draw(s)
		s.Show()
	}
}

// fallbacks are for terminals without Unicode: one column each, as what they stand for.
var fallbacks = map[rune]string{'…': "~", '·': "-"}

// refresh gets frames, one after the other, as often as the budget allows.
func refresh(ctx context.Context, from Watcher, every time.Duration, hurry <-chan struct{}, tell func(fresh)) {
	wait := first
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		case <-hurry:
			time.Sleep(first)
		}
		f, err := from.Refresh()
		tell(fresh{f, err})
		if err != nil {
			return
		}
		wait = beat.UntilNext(max(every, f.Cost.Every))
	}
}

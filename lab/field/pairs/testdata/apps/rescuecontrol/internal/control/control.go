// Package control knows the crews of a county and sends them out.
package control

import (
	"cmp"
	"errors"
	"slices"

	"rescuecontrol/internal/roads"
)

// ErrNone is returned when no crew is free.
var ErrNone = errors.New("control: no crew is free")

// Crew is an ambulance with its crew.
type Crew struct {
	ID   int
	At   roads.Point
	Busy bool
	Runs int
}

type fix struct {
	crew int
	at   roads.Point
	done chan bool
}

type call struct {
	scene roads.Point
	reply chan Answer
}

type view struct {
	around roads.Point
	reply  chan []Crew
}

type timed struct {
	call
	near  []Crew
	times []float64
	err   error
}

// Answer is the crew that goes to a scene.
type Answer struct {
	Crew    int
	Seconds float64
	Err     error
}

// Room is the control room; all that it knows belongs to its loop.
type Room struct {
	roads *roads.Client
	v2    bool
	crews []Crew

	fixes  chan fix
	calls  chan call
	views  chan view
	frees  chan int
	timed  chan timed
	closed chan struct{}
}

// Open opens a room with n crews.
func Open(c *roads.Client, n int, v2 bool) *Room {
	r := &Room{
		roads: c, v2: v2, crews: make([]Crew, n),
		fixes: make(chan fix), calls: make(chan call), views: make(chan view),
		frees: make(chan int), timed: make(chan timed), closed: make(chan struct{}),
	}
	for i := range r.crews {
		r.crews[i].ID = i
	}
	go r.loop()
	return r
}

// Position notes where a crew is; it reports whether the crew is on a run.
func (r *Room) Position(crew int, at roads.Point) bool {
	f := fix{crew, at, make(chan bool, 1)}
	r.fixes <- f
	return <-f.done
}

// Send sends the crew that is there first.
func (r *Room) Send(scene roads.Point) Answer {
	c := call{scene, make(chan Answer, 1)}
	r.calls <- c
	return <-c.reply
}

// Around returns the five crews next to a place.
func (r *Room) Around(p roads.Point) []Crew {
	v := view{p, make(chan []Crew, 1)}
	r.views <- v
	return <-v.reply
}

// Free ends the run of a crew.
func (r *Room) Free(crew int) { r.frees <- crew }

// Close closes the room.
func (r *Room) Close() { close(r.closed) }

func (r *Room) loop() {
	for {
		select {
		case f := <-r.fixes:
			c := &r.crews[f.crew]
			c.At = f.at
			f.done <- c.Busy
		case c := <-r.calls:
			r.dispatch(c)
		case v := <-r.views:
			v.reply <- r.nearest(v.around, 5, true)
		case id := <-r.frees:
			r.crews[id].Busy = false
		case t := <-r.timed:
			r.choose(t)
		case <-r.closed:
			return
		}
	}
}

func (r *Room) dispatch(c call) {
	t := timed{call: c, near: r.nearest(c.scene, 8, false)}
	if r.v2 {
		go func() {
			t.times, t.err = r.roads.Times(places(t.near), c.scene)
			select {
			case r.timed <- t:
			case <-r.closed:
				c.reply <- Answer{Err: ErrNone}
			}
		}()
		return
	}
	t.times, t.err = r.roads.Times(places(t.near), c.scene)
	r.choose(t)
}

// choose takes the first of the crews that is still free.
func (r *Room) choose(t timed) {
	best := Answer{Err: cmp.Or(t.err, ErrNone)}
	for i, s := range t.times {
		if c := &r.crews[t.near[i].ID]; !c.Busy && (best.Err != nil || s < best.Seconds) {
			best = Answer{Crew: c.ID, Seconds: s}
		}
	}
	if best.Err == nil {
		r.crews[best.Crew].Busy = true
		r.crews[best.Crew].Runs++
	}
	t.reply <- best
}

func (r *Room) nearest(p roads.Point, n int, busy bool) []Crew {
	list := make([]Crew, 0, len(r.crews))
	for _, c := range r.crews {
		if busy || !c.Busy {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Crew) int { return cmp.Compare(a.At.Beeline(p), b.At.Beeline(p)) })
	return slices.Clone(list[:min(n, len(list))])
}

func places(crews []Crew) []roads.Point {
	list := make([]roads.Point, len(crews))
	for i, c := range crews {
		list[i] = c.At
	}
	return list
}

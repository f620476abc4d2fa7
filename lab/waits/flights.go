package main

import (
	"time"

	"golang.org/x/sync/singleflight"
)

// flights are programs in which one asks for all.
var flights = []program{
	{"singleflight-stuck", "who asks for all waits for an answer that never comes", func() error {
		f := &forecasts{radio: make(chan string)}
		crowd(30, func() { f.today(f.listen) })
		return nil
	}},
	{"singleflight-slow", "who asks for all takes long, again and again", func() error {
		f := new(forecasts)
		crowd(30, func() { f.today(f.compute) })
		return nil
	}},
	{"singleflight-fine", "who asks for all has the answer at once", func() error {
		f := new(forecasts)
		for range 30 {
			go every(20*time.Millisecond, func() { f.today(func() (any, error) { return "sun", nil }) })
		}
		return nil
	}},
}

// forecasts are asked for once, by whoever comes first.
type forecasts struct {
	asked singleflight.Group
	radio chan string
}

func (f *forecasts) today(ask func() (any, error)) any {
	answer, _, _ := f.asked.Do("today", ask) // want cause singleflight-stuck singleflight-slow
	return answer
}

// listen waits for a station that has been closed.
func (f *forecasts) listen() (any, error) {
	return <-f.radio, nil // want holder singleflight-stuck
}

func (f *forecasts) compute() (any, error) {
	time.Sleep(100 * time.Millisecond) // want holder singleflight-slow
	return "rain", nil
}

package main

import (
	"runtime"
	"time"
)

// finalizers are programs whose objects clean up behind them.
var finalizers = []program{
	{"finalizer-stuck", "a finalizer waits for ever, and all others behind it", func() error {
		closed := make(chan *handle)
		go forEachTick(10*time.Millisecond, func() { open(func(h *handle) { closing(closed, h) }) })
		go forEachTick(200*time.Millisecond, runtime.GC)
		return nil
	}},
	{"finalizer-fine", "finalizers that end at once", func() error {
		go forEachTick(10*time.Millisecond, func() { open(func(*handle) { steps.Add(1) }) })
		go forEachTick(200*time.Millisecond, runtime.GC)
		return nil
	}},
	{"cleanup-stuck", "a cleanup waits for ever, and all others behind it", func() error {
		released := make(chan int)
		go forEachTick(10*time.Millisecond, func() { borrow(released) })
		go forEachTick(200*time.Millisecond, runtime.GC)
		return nil
	}},
}

// A handle is closed when nobody has it any more.
type handle struct {
	number int
	_      [4096]byte // what a page of a file takes
}

func open(finalizer func(*handle)) {
	h := &handle{number: 1}
	runtime.SetFinalizer(h, finalizer)
}

func closing(closed chan<- *handle, h *handle) {
	closed <- h // want cause finalizer-stuck; holder finalizer-stuck
}

func borrow(released chan<- int) {
	h := &handle{number: 1}
	runtime.AddCleanup(h, func(number int) { giveBack(released, number) }, h.number)
}

func giveBack(released chan<- int, number int) {
	released <- number // want cause cleanup-stuck; holder cleanup-stuck
}

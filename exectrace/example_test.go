package exectrace_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// traceFile returns what the examples read: a small trace, as go test -trace,
// net/http/pprof and runtime/trace write them.
func traceFile() string {
	text, err := os.ReadFile("testdata/text/channel.txt")
	if err != nil {
		log.Fatal(err)
	}
	data, err := corpus.ParseText(bytes.NewReader(text))
	if err != nil {
		log.Fatal(err)
	}
	file := filepath.Join(os.TempDir(), fmt.Sprintf("exectrace-example-%d.out", os.Getpid()))
	if err := os.WriteFile(file, data, 0o600); err != nil {
		log.Fatal(err)
	}
	return file
}

// Where did the time of goroutines go, by what they were started to run?
func ExampleTrace_Account() {
	file := traceFile() // "trace.out"
	defer os.Remove(file)
	t, err := exectrace.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	accounts, err := t.Account(context.Background(), exectrace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, g := range accounts.Groups {
		fmt.Printf("%d of %q: running %v, waiting for a P %v\n", g.Count, g.Name, g.Running, g.Runnable)
		for _, b := range g.Blocked {
			fmt.Printf("\t%v in %s\n", b.Total, b.Reason)
		}
	}
	fmt.Println("lost:", accounts.Info.Damage.LostBytes, "bytes")
	// Output:
	// 1 of "main.main.func1": running 12.16µs, waiting for a P 19.136µs
	// 1 of "main.main": running 9.984µs, waiting for a P 1.408µs
	// 	27.072µs in chan receive
	// lost: 0 bytes
}

// What made goroutines wait, and what woke them?
func ExampleTrace_Events() {
	file := traceFile() // "trace.out"
	defer os.Remove(file)
	t, err := exectrace.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	var begin exectrace.Time
	for e, err := range t.Events(exectrace.EventOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		if begin == 0 {
			begin = e.Time
		}
		if e.Kind == exectrace.EventGoroutine {
			g, from, to := e.GoTransition()
			switch {
			case from == exectrace.Running && to == exectrace.Waiting:
				fmt.Printf("%v: goroutine %d waits: %s at %s\n", e.Time.Sub(begin), g, e.Reason(), e.Stack()[0].Func)
			case from == exectrace.Waiting && to == exectrace.Runnable:
				fmt.Printf("%v: goroutine %d makes %d ready\n", e.Time.Sub(begin), e.Goroutine, g)
			}
		}
	}
	// Output:
	// 4.224µs: goroutine 1 waits: chan receive at runtime.chanrecv1
	// 6.976µs: goroutine 2 makes 1 ready
	// 14.144µs: goroutine 1 waits: chan receive at runtime.chanrecv1
}

// Command hostile leaves a trace and a CPU profile behind whose names are made to
// do harm: HTML, terminal escapes, signs that turn the direction of writing, and
// strings of ten megabytes.
package main

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"time"
)

const (
	html   = `<img src=x onerror="window.owned=1"><script>window.owned=1</script>`
	escape = "\x1b[31mred\x1b[0m\x07\u202e\x00'\";--\\"
)

// long is more than any line of a page holds, and about the longest name that the
// tracer takes: it ends the program above 64 KiB. huge is for labels.
var (
	long = strings.Repeat("long "+html, 60<<10/(5+len(html)))
	huge = strings.Repeat("huge "+html, 10<<20/(5+len(html)))
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: hostile DIR")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(dir string) error {
	cpu, err := os.Create(filepath.Join(dir, "<b onclick=window.owned=1> cpu.pprof"))
	if err != nil {
		return err
	}
	defer cpu.Close()
	tr, err := os.Create(filepath.Join(dir, "&lt;i&gt; \x1b[31m.trace"))
	if err != nil {
		return err
	}
	defer tr.Close()
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	if err := trace.Start(tr); err != nil {
		return err
	}
	work()
	trace.Stop()
	pprof.StopCPUProfile()
	return nil
}

func work() {
	var wg sync.WaitGroup
	var lock sync.Mutex
	for _, name := range []string{html, escape, long, "</script><h1>", "javascript:window.owned=1", "{n} ${n}", ""} {
		wg.Go(func() {
			labels := pprof.Labels("name", name, html, escape, "huge", huge)
			pprof.Do(context.Background(), labels, func(ctx context.Context) {
				ctx, task := trace.NewTask(ctx, name)
				defer task.End()
				for end := time.Now().Add(time.Second); time.Now().Before(end); {
					trace.WithRegion(ctx, name, func() { spin(&lock) })
					trace.Log(ctx, html, name)
				}
			})
		})
	}
	wg.Wait()
}

// spin is a lock that everybody wants, so that there is something to find.
func spin(lock *sync.Mutex) {
	lock.Lock()
	defer lock.Unlock()
	for end := time.Now().Add(200 * time.Microsecond); time.Now().Before(end); {
	}
}

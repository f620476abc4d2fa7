// Command levelsmith works on the levels of a game; here it goes through the
// commands that a build of the game runs, one after another.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"levelsmith/internal/cli"
	"levelsmith/internal/studio"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second form of the command tree")
	flag.Parse()

	dir, err := os.MkdirTemp("", "levelsmith")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	names, err := studio.Build(dir, 10)
	if err != nil {
		log.Fatal(err)
	}

	steps := []string{"check", "pack", "stat", "pack"}
	var out bytes.Buffer
	done, printed, failed := 0, 0, 0
	var slowest time.Duration
	end := time.Now().Add(*dur)
	for time.Now().Before(end) {
		args := []string{steps[done%len(steps)], names[done/len(steps)%len(names)]}
		if done%97 == 96 {
			args = []string{"__complete", "stat", "vault-0"}
		}
		start := time.Now()
		tool := cli.New(cli.Options{Dir: dir, V2: *v2})
		if err := tool.Execute(&out, args); err != nil {
			failed++
		}
		slowest = max(slowest, time.Since(start))
		printed += out.Len()
		out.Reset()
		done++
	}
	fmt.Printf("operations: %d\n", done)
	fmt.Printf("%d bytes printed, %d commands failed, slowest %v\n", printed, failed, slowest.Round(time.Millisecond))
}

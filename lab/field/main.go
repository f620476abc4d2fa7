// Field runs programs that others wrote, as they are published, under a normal
// load, and prints what gowhy says of them. They are healthy as far as anyone
// knows: a finding is either news to their authors or a false alarm, and a
// person has to say which. READING.md is what was said the last time.
//
//	go run ./lab/field                 all of them
//	go run ./lab/field caddy json      only these
//	go run ./lab/field -keep DIR nats  keep the recordings
//
// It hides where the programs come from: `go install` puts them, at the versions
// of one table, into a folder of the user's cache, where they stay. Everything
// listens on loopback, and nothing is left behind. Its type is [program].
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	keep := flag.String("keep", "", "keep the recordings in this `DIRECTORY`")
	last := flag.Duration("d", 4*time.Second, "record each for this `TIME`")
	flag.Usage = usage
	flag.Parse()
	chosen, err := choose(flag.Args())
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = runAll(ctx, chosen, *keep, *last)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "field:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprint(os.Stderr, `  go run ./lab/field                 all programs
  go run ./lab/field caddy json      only these
  go run ./lab/field -keep DIR nats  keep the recordings

Installs programs that others wrote, runs each under a normal load, records it
and prints gowhy's diagnosis, for a person to read. GOWHY=FILE in the
environment is the gowhy to use instead of the one of this checkout.

`)
	flag.PrintDefaults()
	fmt.Fprintln(os.Stderr, "\nPrograms:")
	for _, p := range programs {
		fmt.Fprintf(os.Stderr, "  %-15s %s\n", p.name, p.about)
	}
}

// choose finds programs by name; none is all.
func choose(names []string) (chosen []program, err error) {
	for _, name := range names {
		i := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no program %q: %s", name, strings.Join(known(), ", "))
		}
		chosen = append(chosen, programs[i])
	}
	if len(chosen) == 0 {
		chosen = programs
	}
	return chosen, nil
}

func known() (names []string) {
	for _, p := range programs {
		names = append(names, p.name)
	}
	return names
}

// Command cattlepasses keeps the register of a cattle movement scheme from the messages of farms and markets.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"cattlepasses/internal/bus"
	"cattlepasses/internal/feed"
	"cattlepasses/internal/health"
	"cattlepasses/internal/passes"
	"cattlepasses/internal/register"
)

func main() {
	run := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "use the second message reader")
	flag.Parse()

	reg := register.New()
	iss := passes.NewIssuer([]byte("scheme-key"))
	vet := health.NewBook()

	b := bus.New()
	b.On("movement", reg.Moved)
	b.On("movement", iss.Moved)
	b.On("movement", vet.Moved)
	b.On("birth", reg.Born)
	b.On("birth", iss.Born)
	b.On("test", vet.Tested)

	read := feed.Read
	if *v2 {
		read = feed.ReadLazy
	}
	lines := feed.Messages(4000)
	n := 0
	for end := time.Now().Add(*run); time.Now().Before(end); n++ {
		ev, err := read(lines[n%len(lines)])
		if err == nil {
			err = b.Publish(ev)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("animals %d, passes %d, restricted holdings %d\n", reg.Animals(), iss.Count(), vet.Restricted())
}

// Stagescripts reads the scripts of plays and tells each actor how much there is to learn.
package main

import (
	"flag"
	"fmt"
	"os"

	"stagescripts/internal/lex"
	"stagescripts/internal/rehearsal"
	"stagescripts/internal/script"
)

func main() {
	plays := flag.Int("plays", 1000, "plays to read")
	readers := flag.Int("readers", 2, "plays that are read at once")
	acts := flag.Int("scenes", 8, "scenes of a play")
	grammar := flag.String("grammar", "stage", "grammar of the scripts: stage or screen")
	flag.Parse()

	g, err := lex.Named(*grammar)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stagescripts:", err)
		os.Exit(2)
	}
	c := rehearsal.New(g, *readers)
	for i := range *plays {
		c.Read(script.Generate(i, *acts))
	}
	parts, err := c.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stagescripts:", err)
		os.Exit(1)
	}
	for _, p := range parts[:min(3, len(parts))] {
		fmt.Printf("%s: %d words in %d speeches\n", p.Name, p.Words, p.Speeches)
	}
	fmt.Printf("operations: %d\n", *plays)
}

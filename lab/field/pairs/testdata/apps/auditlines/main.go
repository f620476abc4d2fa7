// Auditlines writes who did what on which machine.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"

	"auditlines/internal/actions"
	"auditlines/internal/audit"
)

func main() {
	lines := flag.Int("lines", 250000, "lines to write")
	once := flag.Bool("once", true, "find out about the machine once")
	flag.Parse()
	w := bufio.NewWriter(io.Discard)
	a, err := audit.New(w, *once)
	if err != nil {
		log.Fatal(err)
	}
	for i := range *lines {
		if err := a.Write(actions.Generate(i)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("bytes:", a.Bytes())
	fmt.Printf("operations: %d\n", *lines)
}

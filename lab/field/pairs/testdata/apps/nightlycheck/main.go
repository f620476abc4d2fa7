// Nightlycheck compares the copies of an archive, folder by folder.
package main

import (
	"flag"
	"fmt"
	"log"
	"runtime"

	"nightlycheck/internal/archive"
	"nightlycheck/internal/verify"
)

// settings are those of the host that it was first set up on, and can be changed.
type settings struct {
	processors int
	workers    int
	folders    int
}

func main() {
	var s settings
	flag.IntVar(&s.processors, "processors", 0, "processors to use; 0 is what there are")
	flag.IntVar(&s.workers, "workers", 4, "folders that are compared at once")
	flag.IntVar(&s.folders, "folders", 400, "folders of the archive")
	flag.Parse()
	if s.processors > 0 {
		runtime.GOMAXPROCS(s.processors)
	}
	a := archive.New(s.folders, 24)
	r, err := verify.Run(a, s.workers)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d files, %d differ\n", r.Files, r.Different)
	fmt.Printf("operations: %d\n", r.Files)
}

// Command soilsurveys writes soil reports for the land office.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"soilsurveys/internal/lab"
	"soilsurveys/internal/report"
	"soilsurveys/internal/samples"
	"soilsurveys/internal/scratch"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	scratchKB := flag.Int("scratch", 1024, "largest scratch buffer in KB")
	flag.Parse()

	l := &lab.Lab{
		Writer: &report.Writer{Buffers: scratch.NewStore(*scratchKB << 10)},
		Fields: samples.Fields(60),
	}
	if err := l.Work(*d, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", l.Reports.Load())
	fmt.Printf("fields %d, %d KB of reports\n", len(l.Fields), l.Bytes.Load()>>10)
}

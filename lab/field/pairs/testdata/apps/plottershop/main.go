// Plottershop plots drawings on a pen plotter.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"time"

	"plottershop/internal/artwork"
	"plottershop/internal/plotter"
	"plottershop/internal/studio"
)

func main() {
	length := flag.Duration("for", 5*time.Second, "length of the run")
	sheets := flag.Bool("sheets", true, "plot sheet by sheet")
	flag.Parse()

	rnd := rand.New(rand.NewPCG(8, 13))
	var drawings []string
	for range 30 {
		drawings = append(drawings, artwork.Sketch(rnd, 20+rnd.IntN(20)))
	}
	p := plotter.Open()
	st := &studio.Studio{Plotter: p, Sheets: *sheets}
	curves, plots := 0, 0
	for end := time.Now().Add(*length); time.Now().Before(end); plots++ {
		n, err := st.Plot(drawings[plots%len(drawings)])
		if err != nil {
			log.Fatal(err)
		}
		curves += n
	}
	p.Close()
	fmt.Printf("operations: %d\n", curves)
	fmt.Printf("drawings %d, lines %d, checksum %08x\n", plots, p.Lines, p.Sum)
}

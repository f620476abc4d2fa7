// Orbwkt reads the shapes of parcels, as a database gives them out.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/wkt"
)

// parcel is the text of a polygon with n corners.
func parcel(i, n int) string {
	var b strings.Builder
	b.WriteString("POLYGON((")
	for c := range n + 1 {
		a := 2 * math.Pi * float64(c%n) / float64(n)
		if c > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%.6f %.6f", 8+float64(i%90)/10+math.Cos(a)/50, 47+math.Sin(a)/50)
	}
	b.WriteString("))")
	return b.String()
}

type land struct {
	bound   orb.Bound
	corners int
}

func (l *land) add(text string) error {
	p, err := wkt.UnmarshalPolygon(text)
	if err != nil {
		return err
	}
	for _, ring := range p {
		l.corners += len(ring)
	}
	l.bound = l.bound.Union(p.Bound())
	return nil
}

func main() {
	n := flag.Int("parcels", 30000, "how many are read")
	flag.Parse()
	texts := make([]string, 100)
	for i := range texts {
		texts[i] = parcel(i, 20+i)
	}
	var l land
	for i := range *n {
		if err := l.add(texts[i%len(texts)]); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(l.bound, l.corners)
	fmt.Printf("operations: %d\n", *n)
}

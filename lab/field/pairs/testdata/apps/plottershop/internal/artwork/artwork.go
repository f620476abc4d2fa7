// Package artwork reads and makes drawings in a small path language.
package artwork

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Point is a place on the sheet in millimetres.
type Point struct{ X, Y float64 }

// Curve is one cubic segment.
type Curve [4]Point

// Path is a chain of curves drawn with one pen.
type Path struct {
	Pen    int
	Curves []Curve
}

// Sketch makes the text of a drawing.
func Sketch(rnd *rand.Rand, paths int) string {
	var b strings.Builder
	for range paths {
		fmt.Fprintf(&b, "P%d M%.2f,%.2f", rnd.IntN(4), rnd.Float64()*400, rnd.Float64()*280)
		for range 10 + rnd.IntN(20) {
			b.WriteString(" C")
			for k := range 3 {
				if k > 0 {
					b.WriteByte(';')
				}
				fmt.Fprintf(&b, "%.2f,%.2f", rnd.Float64()*400, rnd.Float64()*280)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Parse reads a drawing.
func Parse(s string) ([]Path, error) {
	var out []Path
	for line := range strings.Lines(s) {
		var p Path
		var at Point
		for _, w := range strings.Fields(line) {
			var err error
			switch w[0] {
			case 'P':
				p.Pen, err = strconv.Atoi(w[1:])
			case 'M':
				at, err = point(w[1:])
			case 'C':
				c := Curve{at}
				for k, q := range strings.Split(w[1:], ";") {
					if c[k+1], err = point(q); err != nil {
						break
					}
				}
				p.Curves = append(p.Curves, c)
				at = c[3]
			}
			if err != nil {
				return nil, fmt.Errorf("artwork: %q: %w", w, err)
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func point(s string) (Point, error) {
	a, b, _ := strings.Cut(s, ",")
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return Point{}, err
	}
	y, err := strconv.ParseFloat(b, 64)
	return Point{x, y}, err
}

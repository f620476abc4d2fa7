// Package weighing interprets what the scales send.
package weighing

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

// Weighing is the reading of the cells of one scale.
type Weighing struct {
	Hive  int
	At    int64
	Cells []float64
}

// Parse reads a line.
func Parse(s string) (Weighing, error) {
	var w Weighing
	for _, f := range strings.Fields(s) {
		k, v, ok := strings.Cut(f, "=")
		if !ok {
			return w, fmt.Errorf("weighing: field %q", f)
		}
		var err error
		switch k {
		case "hive":
			w.Hive, err = strconv.Atoi(v)
		case "at":
			w.At, err = strconv.ParseInt(v, 10, 64)
		default:
			var x float64
			x, err = strconv.ParseFloat(v, 64)
			w.Cells = append(w.Cells, x)
		}
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

// Net returns the weight of the hive without outlying cells.
func (w Weighing) Net() float64 {
	c := append([]float64(nil), w.Cells...)
	sort.Float64s(c)
	var sum float64
	for _, x := range c[2 : len(c)-2] {
		sum += x
	}
	return sum * float64(len(c)) / float64(len(c)-4)
}

// Trend smooths the weights of the hives.
type Trend struct {
	level map[int]float64
	drift map[int]float64
}

// NewTrend makes an empty trend.
func NewTrend() *Trend { return &Trend{level: map[int]float64{}, drift: map[int]float64{}} }

// Add puts a weighing in and tells whether the hive has swarmed.
func (t *Trend) Add(w Weighing) bool {
	net := w.Net()
	old, ok := t.level[w.Hive]
	if !ok {
		t.level[w.Hive] = net
		return false
	}
	next := 0.3*net + 0.7*(old+t.drift[w.Hive])
	t.drift[w.Hive] = 0.1*(next-old) + 0.9*t.drift[w.Hive]
	t.level[w.Hive] = next
	return math.Abs(net-next) > 1.4
}

// Sum is the weight of all hives.
func (t *Trend) Sum() float64 {
	var s float64
	for _, v := range t.level {
		s += v
	}
	return s
}

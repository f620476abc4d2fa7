// Package journeys knows how long buses take from stop to stop.
package journeys

import (
	"math"
	"sync"

	"nightbuses/internal/streets"
)

// Table answers how long a journey takes.
type Table struct {
	region *streets.Region
	mu     sync.Mutex
	rows   []row
}

type row struct {
	seconds []float32
	via     []int32
}

// New makes the table of a region.
func New(r *streets.Region, full bool) *Table {
	t := &Table{region: r, rows: make([]row, len(r.Stops))}
	if full {
		for i := range t.rows {
			t.rows[i] = t.from(int32(i))
		}
	}
	return t
}

// Between returns the seconds of a journey and the number of stops on the way.
func (t *Table) Between(a, b int32) (float64, int, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rows[a].seconds == nil {
		t.rows[a] = t.from(a)
	}
	w := t.rows[a]
	if w.via[b] < 0 {
		return 0, 0, a == b
	}
	n := 0
	for at := b; at != a; at = w.via[at] {
		n++
	}
	return float64(w.seconds[b]), n, true
}

type mark struct {
	seconds float32
	stop    int32
}

// from looks for the fastest ways from a stop to all others.
func (t *Table) from(a int32) row {
	n := len(t.region.Stops)
	w := row{make([]float32, n), make([]int32, n)}
	for i := range w.seconds {
		w.seconds[i], w.via[i] = math.MaxFloat32, -1
	}
	w.seconds[a] = 0
	marks := []mark{{0, a}}
	for len(marks) > 0 {
		m := marks[0]
		marks = pop(marks)
		if m.seconds > w.seconds[m.stop] {
			continue
		}
		for _, y := range t.region.Stops[m.stop].Ways {
			if s := m.seconds + y.Seconds; s < w.seconds[y.To] {
				w.seconds[y.To], w.via[y.To] = s, m.stop
				marks = push(marks, mark{s, y.To})
			}
		}
	}
	return w
}

func push(q []mark, m mark) []mark {
	q = append(q, m)
	i := len(q) - 1
	for i > 0 && m.seconds < q[(i-1)/2].seconds {
		q[i] = q[(i-1)/2]
		i = (i - 1) / 2
	}
	q[i] = m
	return q
}

func pop(q []mark) []mark {
	n := len(q) - 1
	m := q[n]
	q = q[:n]
	for i := 0; n > 0; {
		c := 2*i + 1
		if c+1 < n && q[c+1].seconds < q[c].seconds {
			c++
		}
		if c >= n || m.seconds <= q[c].seconds {
			q[i] = m
			break
		}
		q[i] = q[c]
		i = c
	}
	return q
}

package testdata

import (
	"errors"
	"slices"
	"time"
)

// column-major

type table struct {
	cells []float64
	w, h  int
}

func (t *table) sums(out []float64) {
	for x := 0; x < t.w; x++ {
		for y := 0; y < t.h; y++ {
			out[x] += t.cells[y*t.w+x] // sick column-major
		}
	}
}

func columns(rows [][]int) (n int) {
	for x := range rows[0] {
		for y := range rows {
			n += rows[y][x] // sick column-major
		}
	}
	return n
}

func multiply(a, b, c [][]float64) {
	for i := range a {
		for j := range b[0] {
			for k := range b {
				c[i][j] += a[i][k] * b[k][j] // sick column-major
			}
		}
	}
}

func (t *table) rowSums(out []float64) {
	for y := 0; y < t.h; y++ {
		for x := 0; x < t.w; x++ {
			out[y] += t.cells[y*t.w+x] // well column-major
		}
	}
}

func turned(a, b [][]int) {
	for i := range a {
		for j := range a[i] {
			b[j][i] = a[i][j] // alike column-major
		}
	}
}

func byName(of map[string]map[int]int, names []string, n int) (sum int) {
	for i := range n {
		for j := range names {
			sum += of[names[j]][i] // alike column-major
		}
	}
	return sum
}

// try-each

var layouts = []string{time.RFC3339, time.ANSIC, time.RFC850, time.RFC1123Z}

var both = []string{time.RFC3339, time.ANSIC}

func stamp(text string) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil { // sick try-each time.Parse
			return t, nil
		}
	}
	return time.Time{}, errors.New("no time")
}

func stampOrLast(text string) (out time.Time) {
	for _, layout := range layouts {
		t, err := time.Parse(layout, text) // sick try-each time.Parse
		if err != nil {
			continue
		}
		if out = t; !out.IsZero() {
			break
		}
	}
	return out
}

func either(text string) (time.Time, error) {
	for _, layout := range both {
		if t, err := time.Parse(layout, text); err == nil { // alike try-each time.Parse
			return t, nil
		}
	}
	return time.Time{}, errors.New("no time")
}

func all(texts []string) (list []time.Time) {
	for _, text := range texts {
		if t, err := time.Parse(time.RFC3339, text); err == nil { // alike try-each time.Parse
			list = append(list, t)
		}
	}
	return list
}

func one(text string) (time.Time, error) {
	return time.Parse(time.RFC3339, text) // well try-each time.Parse
}

// skip-offset

type entry struct {
	action, who string
}

type trail struct {
	first   *block
	entries []entry
}

type block struct {
	entries []entry
	next    *block
}

func (t *trail) page(action string, offset, limit int) (out []entry) {
	for b := t.first; b != nil; b = b.next {
		for i := range b.entries {
			if b.entries[i].action != action { // sick skip-offset
				continue
			}
			if offset > 0 {
				offset--
				continue
			}
			if out = append(out, b.entries[i]); len(out) == limit {
				return out
			}
		}
	}
	return out
}

func (t *trail) after(skip, limit int) (out []entry) {
	for i, e := range t.entries { // sick skip-offset
		if i < skip {
			continue
		}
		if out = append(out, e); len(out) == limit {
			break
		}
	}
	return out
}

func (t *trail) from(at, limit int) (out []entry) {
	for i := at; i < len(t.entries); i++ { // well skip-offset
		if out = append(out, t.entries[i]); len(out) == limit {
			break
		}
	}
	return out
}

func older(entries []entry, than int, ages []int) (out []entry) {
	for i, e := range entries { // alike skip-offset
		if ages[i] < than {
			continue
		}
		out = append(out, e)
	}
	return out
}

// search-kept in lists of lists

type sheet struct{ rows [][]entry }

func (s *sheet) find(who string) string {
	for i := range s.rows {
		for j := range s.rows[i] {
			e := &s.rows[i][j]
			if e.action != "" && e.who == who { // sick search-kept
				return e.action
			}
		}
	}
	return ""
}

func (s *sheet) firstOf(limit int) string {
	n := 0
	for _, row := range s.rows {
		for _, e := range row {
			n++
			if n == limit { // alike search-kept
				return e.who
			}
		}
	}
	return ""
}

// swap-sort

type ranking struct {
	scores []int
	teams  []entry
}

func (r *ranking) add(score int) {
	r.scores = append(r.scores, score)
	for i := len(r.scores) - 1; i > 0; i-- {
		if r.scores[i] >= r.scores[i-1] { // sick swap-sort
			break
		}
		r.scores[i], r.scores[i-1] = r.scores[i-1], r.scores[i] // sick swap-sort
	}
}

func (r *ranking) arrange(less func(a, b entry) bool) {
	for range r.teams {
		for i := 0; i < len(r.teams)-1; i++ {
			if less(r.teams[i+1], r.teams[i]) { // sick swap-sort
				r.teams[i], r.teams[i+1] = r.teams[i+1], r.teams[i]
			}
		}
	}
}

func (r *ranking) arrangePart(a, b int) {
	for i := a + 1; i < b; i++ {
		for j := i; j > a && r.scores[j] < r.scores[j-1]; j-- {
			r.scores[j], r.scores[j-1] = r.scores[j-1], r.scores[j] // alike swap-sort
		}
	}
}

func flipped(b []byte) {
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i] // alike swap-sort
	}
}

func (r *ranking) sift(i int) {
	for i > 0 && r.scores[i] < r.scores[(i-1)/2] {
		r.scores[i], r.scores[(i-1)/2] = r.scores[(i-1)/2], r.scores[i] // alike swap-sort
		i = (i - 1) / 2
	}
}

func (r *ranking) addWell(scores []int) {
	r.scores = append(r.scores, scores...)
	slices.Sort(r.scores) // well swap-sort
}

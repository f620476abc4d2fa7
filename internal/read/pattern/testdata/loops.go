package cases

import (
	"bytes"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
)

// concat-loop

func join(words []string) string {
	s := ""
	for _, w := range words {
		s += w + "," // sick concat-loop runtime.concatstrings
	}
	return s
}

func joinLong(words []string) string {
	var s string
	for _, w := range words {
		s = s + w + "," // sick concat-loop runtime.concatstring3
	}
	return s
}

func labels(words []string) (out []string) {
	for _, w := range words {
		out = append(out, "label:"+w) // well concat-loop runtime.concatstring2
	}
	return out
}

func prefixes(words []string) (out []string) {
	s := ""
	for _, w := range words {
		s += w // alike concat-loop runtime.concatstring2
		out = append(out, s)
	}
	return out
}

// grow-known

func lengths(words []string) []int {
	var out []int
	for _, w := range words {
		out = append(out, len(w)) // sick grow-known runtime.growslice
	}
	return out
}

func squares(n int) []int {
	out := []int{}
	for i := 0; i < n; i++ {
		out = append(out, i*i) // sick grow-known runtime.growslice
	}
	return out
}

func long(words []string) []string {
	var out []string
	for _, w := range words {
		if len(w) > 10 {
			out = append(out, w) // alike grow-known runtime.growslice
		}
	}
	return out
}

func lengthsKept(words []string, room []int) []int {
	var out []int
	if room != nil {
		out = room[:0]
	}
	for _, w := range words {
		out = append(out, len(w)) // alike grow-known runtime.growslice
	}
	return out
}

func received(from chan int) []int {
	var out []int
	for v := range from {
		out = append(out, v) // alike grow-known runtime.growslice
	}
	return out
}

func table(rows [][]int) []int {
	var out []int
	for _, r := range rows {
		for _, v := range r {
			out = append(out, 2*v) // alike grow-known runtime.growslice
		}
	}
	return out
}

func lengthsWell(words []string) []int {
	out := make([]int, 0, len(words))
	for _, w := range words {
		out = append(out, len(w)) // well grow-known runtime.growslice
	}
	return out
}

// shift-front

type queue struct{ items []int }

func (q *queue) pop() int {
	v := q.items[0]
	copy(q.items, q.items[1:]) // sick shift-front runtime.memmove
	q.items = q.items[:len(q.items)-1]
	return v
}

func (q *queue) pushFront(v int) {
	q.items = append([]int{v}, q.items...) // sick shift-front runtime.growslice
}

func (q *queue) drop() {
	q.items = slices.Delete(q.items, 0, 1) // sick shift-front slices.Delete[go.shape.[]int,go.shape.int]
}

func (q *queue) with(v int) []int {
	return append([]int{v}, q.items...) // alike shift-front runtime.growslice
}

func (q *queue) popWell() int {
	v := q.items[0]
	q.items = q.items[1:] // well shift-front runtime.memmove
	return v
}

func (q *queue) remove(i int) {
	q.items = slices.Delete(q.items, i, i+1) // sick shift-rest slices.Delete
}

// string-key, bytes-conversion

func counted(m map[string]int, b []byte) int {
	key := string(b) // sick string-key runtime.slicebytetostring
	return m[key]
}

func counts(m map[string]int, b []byte) {
	key := string(b) // alike string-key runtime.slicebytetostring
	m[key] = 1
}

func countedWell(m map[string]int, b []byte) int {
	return m[string(b)] // well string-key runtime.slicebytetostring
}

func isComment(b []byte) bool {
	return strings.HasPrefix(string(b), "#") // sick bytes-conversion runtime.slicebytetostring
}

func say(w io.Writer, s string) {
	w.Write([]byte(s)) // sick bytes-conversion runtime.stringtoslicebyte
}

func trimmed(b []byte) string {
	return strings.TrimSpace(string(b)) // alike bytes-conversion runtime.slicebytetostring
}

func isCommentWell(b []byte) bool {
	return bytes.HasPrefix(b, []byte("#")) // well bytes-conversion runtime.stringtoslicebyte
}

// sort-after-append

type board struct{ scores []int }

func (b *board) add(v int) {
	b.scores = append(b.scores, v)
	sort.Ints(b.scores) // sick sort-after-append sort.Ints
}

func sorted(in []int) []int {
	var out []int
	for _, v := range in {
		out = append(out, v)
		sort.Slice(out, func(i, j int) bool { return out[i] < out[j] }) // sick sort-after-append sort.Slice
	}
	return out
}

func sortedOnce(in []int, last int) []int {
	in = append(in, last)
	sort.Ints(in) // alike sort-after-append sort.Ints
	return in
}

func sortedWell(in []int) []int {
	var out []int
	for _, v := range in {
		out = append(out, v)
	}
	sort.Ints(out) // well sort-after-append sort.Ints
	return out
}

// sort-after-change

type league struct{ teams []team }

type team struct {
	name   string
	points int
}

func (l *league) order() {
	slices.SortFunc(l.teams, byPoints) // sick sort-after-change slices.SortFunc
}

func (l *league) win(i int) {
	l.teams[i].points += 3
	l.order()
}

func (l *league) draw(i int) {
	l.teams[i].points++
	slices.SortFunc(l.teams, byPoints) // sick sort-after-change slices.SortFunc
}

func (l *league) rename(i int, name string) {
	l.teams[i] = team{name, l.teams[i].points}
	sort.Slice(l.teams, func(i, j int) bool { return l.teams[i].name < l.teams[j].name }) // sick sort-after-change sort.Slice
}

func (l *league) reset() {
	for i := range l.teams {
		l.teams[i].points = 0
	}
	slices.SortFunc(l.teams, byPoints) // alike sort-after-change slices.SortFunc
}

type ranking struct{ teams []team }

func (t *ranking) order() {
	slices.SortFunc(t.teams, byPoints) // alike sort-after-change slices.SortFunc
}

func (t *ranking) read(in []team) {
	for i := range in {
		t.teams[i] = in[i]
	}
	t.order()
}

func first(teams []team) team {
	teams = slices.Clone(teams)
	teams[0].points++
	slices.SortFunc(teams, byPoints) // alike sort-after-change slices.SortFunc
	return teams[0]
}

func byPoints(a, b team) int { return b.points - a.points }

func (l *league) riseWell(i int) {
	l.teams[i].points++
	t := l.teams[i]
	to, _ := slices.BinarySearchFunc(l.teams[:i], t, byPoints)
	copy(l.teams[to+1:i+1], l.teams[to:i])
	l.teams[to] = t // well sort-after-change
}

// search-in-loop

func common(a, b []string) (n int) {
	for _, x := range a {
		if slices.Contains(b, x) { // sick search-in-loop slices.Contains[go.shape.[]string,go.shape.string]
			n++
		}
	}
	return n
}

func unique(in []string) (out []string) {
	for _, x := range in {
		if !slices.Contains(out, x) { // sick search-in-loop slices.Contains
			out = append(out, x)
		}
	}
	return out
}

func named(orders []order, names []int) (n int) {
	for _, o := range orders {
		if slices.Contains(names, o.id) { // alike search-in-loop slices.Contains
			n++
		}
	}
	return n
}

var vowels = []string{"a", "e", "i", "o", "u"}

func spoken(in []string) (n int) {
	for _, x := range in {
		if slices.Contains(vowels, x) { // alike search-in-loop slices.Contains
			n++
		}
	}
	return n
}

type order struct {
	id, customer int
	amount       float64
}

type customer struct {
	id   int
	name string
}

func owners(orders []order, customers []customer) (names []string) {
	for _, o := range orders {
		for _, c := range customers { // sick search-in-loop
			if c.id == o.customer {
				names = append(names, c.name)
				break
			}
		}
	}
	return names
}

func totals(orders []order, customers []customer) (sum float64) {
	for _, o := range orders {
		for _, c := range customers { // alike search-in-loop
			if c.id == o.customer {
				sum += o.amount
			}
			sum++
		}
	}
	return sum
}

func ownersWell(orders []order, customers map[int]customer) (names []string) {
	for _, o := range orders {
		names = append(names, customers[o.customer].name) // well search-in-loop
	}
	return names
}

func perGroup(groups [][]string, want []string) (n int) {
	for i, g := range groups {
		for _, x := range g { // alike search-in-loop memeqbody
			if x == want[i] {
				n++
				break
			}
		}
	}
	return n
}

// clock-in-loop, timer-in-loop, defer-in-loop

func spin(d time.Duration) (n int) {
	start := time.Now()
	for time.Since(start) < d { // sick clock-in-loop time.Since
		n++
	}
	return n
}

func until(deadline time.Time, work []int) (n int) {
	for _, w := range work {
		if time.Now().After(deadline) { // sick clock-in-loop time.Now
			return n
		}
		n += w
	}
	return n
}

func stamps(work []int) (out []time.Time) {
	for range work {
		out = append(out, time.Now()) // alike clock-in-loop time.Now
	}
	return out
}

func once(work []int) time.Time {
	return time.Now() // well clock-in-loop time.Now
}

func listen(ch chan int) (n int) {
	for {
		select {
		case v := <-ch:
			n += v
		case <-time.After(time.Minute): // sick timer-in-loop time.After
			return n
		}
	}
}

func listenLonger(ch chan int, wait time.Duration) (n int) {
	for {
		select {
		case v := <-ch:
			n += v
		case <-time.After(wait): // alike timer-in-loop time.After
			wait *= 2
		}
	}
}

func wait(ch chan int) int {
	select {
	case v := <-ch:
		return v
	case <-time.After(time.Minute): // alike timer-in-loop time.After
		return 0
	}
}

func listenWell(ch chan int) (n int) {
	t := time.NewTimer(time.Minute)
	for {
		t.Reset(time.Minute)
		select {
		case v := <-ch:
			n += v
		case <-t.C: // well timer-in-loop time.NewTimer
			return n
		}
	}
}

func open(names []string) {
	for _, n := range names {
		f, _ := os.Open(n)
		defer f.Close() // sick defer-in-loop runtime.deferproc
	}
}

func openEach(names []string) {
	for _, n := range names {
		func() {
			f, _ := os.Open(n)
			defer f.Close() // well defer-in-loop runtime.deferproc
		}()
	}
}

func openAll(names []string) (files []*os.File) {
	for _, n := range names {
		f, _ := os.Open(n)
		defer f.Chdir() // alike defer-in-loop runtime.deferproc
		files = append(files, f)
	}
	return files
}

func openRead(names []string, read func(*os.File)) {
	for _, n := range names {
		f, _ := os.Open(n)
		defer f.Close() // alike defer-in-loop runtime.deferproc
		go read(f)
	}
}

func openOne(names []string) {
	for _, n := range names {
		if f, err := os.Open(n); err == nil {
			defer f.Close() // alike defer-in-loop runtime.deferproc
			break
		}
	}
}

// range-copy

type record struct {
	id   int
	data [64]int
}

func ids(records []record) (sum int) {
	for _, r := range records { // sick range-copy runtime.duffcopy
		sum += r.id
	}
	return sum
}

func kept(records []record) (out []record) {
	for _, r := range records { // alike range-copy runtime.duffcopy
		out = append(out, r)
	}
	return out
}

func pointers(records []*record) (sum int) {
	for _, r := range records { // well range-copy
		sum += r.id
	}
	return sum
}

// copy-loop

func copied(to, from []int) {
	for i := range from { // sick copy-loop
		to[i] = from[i]
	}
}

func appended(to, from []int) []int {
	for _, v := range from {
		to = append(to, v) // sick copy-loop runtime.growslice
	}
	return to
}

func doubled(to, from []int) {
	for i := range from { // alike copy-loop
		to[i] = 2 * from[i]
	}
}

func reversed(to, from []int) {
	for i := range from { // alike copy-loop
		to[len(from)-1-i] = from[i]
	}
}

func copiedWell(to, from []int) {
	copy(to, from) // well copy-loop runtime.memmove
}

// more of bytes-conversion

func reader(s string) io.Reader {
	return bytes.NewReader([]byte(s)) // sick bytes-conversion runtime.stringtoslicebyte
}

func put(w *bytes.Buffer, b []byte) {
	w.WriteString(string(b)) // sick bytes-conversion runtime.slicebytetostring
}

// map-grow-known

func byName(customers []customer) map[string]customer {
	out := map[string]customer{}
	for _, c := range customers {
		out[c.name] = c // sick map-grow-known runtime.mapassign_faststr
	}
	return out
}

func byNameWell(customers []customer) map[string]customer {
	out := make(map[string]customer, len(customers))
	for _, c := range customers {
		out[c.name] = c // well map-grow-known runtime.mapassign_faststr
	}
	return out
}

func grouped(orders []order) map[int][]int {
	out := map[int][]int{}
	for _, o := range orders {
		out[o.customer] = append(out[o.customer], o.id) // alike map-grow-known runtime.mapassign_fast64
	}
	return out
}

func perCustomer(orders []order) map[int]float64 {
	out := make(map[int]float64)
	for _, o := range orders {
		out[o.customer] += o.amount // alike map-grow-known runtime.mapassign_fast64
	}
	return out
}

package testdata

import (
	"bytes"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

type parcel struct {
	id, town, name string
	state          string
	weight         int
	due            time.Time
}

type depot struct {
	mu      sync.Mutex
	parcels []*parcel
	byID    map[string]*parcel
	routes  []route
	limit   int
}

type route struct {
	town  string
	stops []string
}

var tariffs []route

var few = []route{{town: "a"}, {town: "b"}}

// derived-per-call

func (d *depot) search(q string) (found []*parcel) {
	for _, p := range d.parcels {
		if strings.Contains(strings.ToLower(p.name), q) { // sick derived-per-call strings.ToLower
			found = append(found, p)
		}
	}
	return found
}

func (p *parcel) words() []string { return strings.Fields(p.name) }

func (d *depot) counted(q string) (n int) {
	for _, p := range d.parcels {
		n += len(p.words()) - len(q) // sick derived-per-call testdata.(*parcel).words
	}
	return n
}

func (p *parcel) move(state string) { p.state = state }

func (d *depot) states(q string) (n int) {
	for _, p := range d.parcels {
		if strings.Contains(strings.ToLower(p.state), q) { // alike derived-per-call strings.ToLower
			n++
		}
	}
	return n
}

func (d *depot) trimmed(q string) (n int) {
	for _, p := range d.parcels {
		n += len(strings.TrimPrefix(p.name, q)) // well derived-per-call strings.TrimPrefix
	}
	return n
}

// index-per-call

func (d *depot) lookAll(ids []string) (n int) {
	at := make(map[string]*parcel)
	for _, p := range d.parcels {
		at[p.id] = p // sick index-per-call runtime.mapassign_faststr
	}
	for _, id := range ids {
		if p := at[id]; p != nil {
			n += p.weight
		}
	}
	return n
}

func (d *depot) renamed(q string, ids []string) (n int) {
	at := map[string]string{}
	for _, p := range d.parcels {
		if p.weight > 0 {
			at[q+p.id] = p.town // well index-per-call runtime.mapassign_faststr
		}
	}
	for _, id := range ids {
		n += len(at[id])
	}
	return n
}

func (d *depot) rebuild() map[string]*parcel {
	at := make(map[string]*parcel, len(d.parcels))
	for _, p := range d.parcels {
		at[p.id] = p // alike index-per-call runtime.mapassign_faststr
	}
	return at
}

// sort-per-call

func (d *depot) heaviest(n int) []*parcel {
	list := slices.Clone(d.parcels)
	sort.SliceStable(list, func(i, j int) bool { return list[i].weight > list[j].weight }) // sick sort-per-call sort.SliceStable
	return list[:n]
}

func (d *depot) inTown(town string) (list []*parcel) {
	for _, p := range d.parcels {
		if p.town == town {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *parcel) int { return a.weight - b.weight }) // sick sort-per-call slices.SortFunc[...]
	return list
}

func (d *depot) nearest(at int) []*parcel {
	list := slices.Clone(d.parcels)
	slices.SortFunc(list, func(a, b *parcel) int { return (a.weight - at) - (b.weight - at) }) // well sort-per-call slices.SortFunc[...]
	return list
}

func ordered(list []*parcel) []*parcel {
	slices.SortFunc(list, func(a, b *parcel) int { return a.weight - b.weight }) // alike sort-per-call slices.SortFunc[...]
	return list
}

func (d *depot) now(id string) *parcel {
	d.mu.Lock()
	at := make(map[string]*parcel, len(d.byID))
	for key, p := range d.byID {
		at[key] = p // alike index-per-call runtime.mapassign_faststr
	}
	d.mu.Unlock()
	return at[id]
}

// total-per-call

func (d *depot) load() (sum int) {
	for _, p := range d.parcels { // sick total-per-call
		sum += p.weight
	}
	return sum
}

func (d *depot) heavy() (n int) {
	for i := range d.parcels {
		if p := d.parcels[i]; p.weight > n {
			n = p.weight // well total-per-call
		}
	}
	return n
}

func sum(list []int) (n int) {
	for _, x := range list { // alike total-per-call
		n += x
	}
	return n
}

// clone-read

func longest(names []string) (n int) {
	list := slices.Clone(names) // sick clone-read slices.Clone[...]
	for _, s := range list {
		n = max(n, len(s))
	}
	return n
}

func second(numbers []int) int {
	list := append([]int(nil), numbers...) // sick clone-read runtime.growslice
	return list[1]
}

func lowest(numbers []int) int {
	list := slices.Clone(numbers) // well clone-read slices.Clone[...]
	slices.Sort(list)
	return list[0]
}

func (d *depot) stops() (n int) {
	d.mu.Lock()
	list := slices.Clone(d.routes[0].stops) // alike clone-read slices.Clone[...]
	d.mu.Unlock()
	for _, s := range list {
		n += len(s)
	}
	return n
}

// least-taken

func (d *depot) next() *parcel {
	best := 0
	for i := range d.parcels {
		if d.parcels[i].due.Before(d.parcels[best].due) { // sick least-taken time.Time.Before
			best = i
		}
	}
	p := d.parcels[best]
	d.parcels = append(d.parcels[:best], d.parcels[best+1:]...)
	return p
}

func sweepOld(data map[string]int, ticks <-chan int) {
	var old []string
	for now := range ticks {
		old = old[:0]
		for key, t := range data { // alike least-taken
			if t != 0 && t <= now {
				old = append(old, key)
			}
		}
		for i := range old {
			delete(data, old[i])
		}
	}
}

func drained(open []int) (order []int) {
	for len(open) > 0 {
		best := 0
		for i, x := range open { // sick least-taken
			if x < open[best] {
				best = i
			}
		}
		order = append(order, open[best])
		open[best] = open[len(open)-1]
		open = open[:len(open)-1]
	}
	return order
}

type heavy struct{ weights []int }

func (h *heavy) all() []int { return h.weights }

func weightOf(parcels []*parcel) (n int) {
	h := &heavy{}
	for _, p := range parcels {
		h.weights = append(h.weights, p.weight)
	}
	for _, w := range h.all() { // alike total-per-call
		n += w
	}
	return n
}

func cheapest(list []int) (best int) {
	for i, x := range list { // well least-taken
		if x < list[best] {
			best = i
		}
	}
	return best
}

func (d *depot) lightest() (best *parcel) {
	for _, p := range d.parcels { // alike least-taken
		if best == nil || p.weight < best.weight {
			best = p
		}
	}
	return best
}

// search-kept

func (d *depot) find(id string) *parcel {
	for _, p := range d.parcels { // sick search-kept
		if p.id == id {
			return p
		}
	}
	return nil
}

func (d *depot) dueBefore(town string, until time.Time) (list []*parcel) {
	for _, p := range d.parcels {
		if p.town != town { // sick search-kept
			continue
		}
		if p.due.Before(until) {
			list = append(list, p)
		}
	}
	return list
}

func (d *depot) of(id string) *parcel {
	for _, p := range d.byID {
		if p.name == id && p.weight > 0 { // sick search-kept
			return p
		}
	}
	return nil
}

func tariffOf(town string) *route {
	for i := range tariffs {
		if tariffs[i].town == town { // sick search-kept
			return &tariffs[i]
		}
	}
	return nil
}

func fewOf(town string) *route {
	for i := range few {
		if few[i].town == town { // alike search-kept
			return &few[i]
		}
	}
	return nil
}

func (d *depot) overweight() (n []*parcel) {
	for _, p := range d.parcels {
		if p.weight > d.limit { // alike search-kept
			n = append(n, p)
		}
	}
	return n
}

func (d *depot) send(to func(*parcel, string), town string) {
	for _, p := range d.parcels {
		to(p, town) // well search-kept
	}
}

// search-in-loop

func join(orders, parcels []*parcel) (n int) {
	for _, o := range orders {
		for _, p := range parcels {
			if p.id != o.id { // sick search-in-loop
				continue
			}
			n += p.weight * o.weight
		}
	}
	return n
}

func within(orders, parcels []*parcel) (n int) {
	for _, o := range orders {
		for _, p := range parcels {
			if p.weight > o.weight { // alike search-in-loop
				n++
			}
		}
	}
	return n
}

// buffer-per-call

func first(r io.Reader, n int) (sum int, err error) {
	b := make([]byte, n) // sick buffer-per-call (allocates)
	if _, err = io.ReadFull(r, b); err != nil {
		return 0, err
	}
	for _, c := range b {
		sum += int(c)
	}
	return sum, nil
}

func all(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n) // well buffer-per-call (allocates)
	_, err := io.ReadFull(r, b)
	return b, err
}

func head(r io.Reader) (byte, error) {
	b := make([]byte, 8) // alike buffer-per-call (allocates)
	_, err := io.ReadFull(r, b)
	return b[0], err
}

// replacer-per-call

type codes struct {
	pairs []string
	built *strings.Replacer
}

var common = []string{"&", "&amp;", "<", "&lt;"}

func (c *codes) expand(text string) string {
	return strings.NewReplacer(c.pairs...).Replace(text) // sick replacer-per-call strings.(*Replacer).build
}

func (c *codes) short(text string) string {
	r := strings.NewReplacer(":a:", "a", ":b:", "b")
	return r.Replace(text) // sick replacer-per-call strings.(*Replacer).build
}

func escape(w io.Writer, text string) {
	strings.NewReplacer(common...).WriteString(w, text) // sick replacer-per-call strings.(*Replacer).build
}

func (c *codes) kept(text string) string {
	return c.built.Replace(text) // well replacer-per-call strings.(*Replacer).build
}

func (c *codes) given(text, from, to string) string {
	return strings.NewReplacer(from, to).Replace(text) // alike replacer-per-call strings.(*Replacer).build
}

func (c *codes) several(texts []string) {
	r := strings.NewReplacer(c.pairs...)
	for i, text := range texts {
		texts[i] = r.Replace(text) // alike replacer-per-call strings.(*Replacer).build
	}
}

// copy-to-read

type headers map[string][]string

func (h headers) get(name string) string {
	if v := h[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (h headers) set(name, value string) { h[name] = []string{value} }

type received struct {
	mu      sync.Mutex
	headers headers
	limits  *limits
}

type limits struct {
	perHour map[string]int
	names   []string
}

func (l *limits) clone() *limits {
	return &limits{perHour: maps.Clone(l.perHour), names: slices.Clone(l.names)}
}

func (r *received) all() (headers, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.headers == nil {
		return nil, false
	}
	out := make(headers, len(r.headers))
	for name, values := range r.headers {
		out[name] = append([]string(nil), values...)
	}
	return out, true
}

func (r *received) some(prefix string) headers {
	out := headers{}
	for name, values := range r.headers {
		if strings.HasPrefix(name, prefix) {
			out[name] = values
		}
	}
	return out
}

func (r *received) counted() map[string]int {
	rows := r.ask()
	out := make(map[string]int, len(rows))
	for name, n := range rows {
		out[name] = n
	}
	return out
}

func (r *received) ask() map[string]int { return map[string]int{r.limits.names[0]: 1} }

func (r *received) first(name string) int {
	all := r.counted() // alike copy-to-read testdata.(*received).counted
	return all[name]
}

func (r *received) allowed() map[string]int {
	level := r.length()
	out := make(map[string]int, len(r.headers))
	for name := range r.headers {
		out[name] = level
	}
	return out
}

func (r *received) level(name string) int {
	all := r.allowed() // alike copy-to-read testdata.(*received).allowed
	return all[name]
}

func (r *received) limitsNow() *limits { return r.limits.clone() }

func (r *received) length() int { return len(r.headers) }

func (r *received) name() string {
	h, ok := r.all() // sick copy-to-read testdata.(*received).all
	if !ok {
		return ""
	}
	return h.get("name")
}

func (r *received) tooMany(who string, n int) bool {
	l := r.limitsNow() // sick copy-to-read testdata.(*received).limitsNow
	return l.perHour[who] < n && len(l.names) > 0
}

func (r *received) over(who string, n int) bool {
	l := r.limitsNow() // sick copy-to-read testdata.(*received).limitsNow
	return below(l, who, n)
}

func below(l *limits, who string, n int) bool { return l.perHour[who] < n }

func (r *received) raised(who string) *limits {
	l := r.limitsNow() // alike copy-to-read testdata.(*received).limitsNow
	raise(l, who)
	return l
}

func (r *received) raisedTo(who string) int {
	l := r.limitsNow() // alike copy-to-read testdata.(*received).limitsNow
	raise(l, who)
	return l.perHour[who]
}

func raise(l *limits, who string) { l.perHour[who]++ }

func (r *received) signed(value string) headers {
	h, _ := r.all() // alike copy-to-read testdata.(*received).all
	h.set("signature", value)
	return h
}

func (r *received) changed(value string) string {
	h, _ := r.all() // alike copy-to-read testdata.(*received).all
	h.set("name", value)
	return h.get("name")
}

func (r *received) mine() string {
	h := r.some("x-") // alike copy-to-read testdata.(*received).some
	return h.get("x-name")
}

func (r *received) text() []byte { // made for the call, and copied out of its buffer
	var b bytes.Buffer
	b.WriteString("x")
	return append([]byte(nil), b.Bytes()...)
}

func (r *received) sizes() []int { // something else of each
	out := make([]int, len(r.limits.names))
	for i, n := range r.limits.names {
		out[i] = len(n)
	}
	return out
}

func (r *received) sorted() []string { // in another order
	out := slices.Clone(r.limits.names)
	slices.Sort(out)
	return out
}

func (r *received) firsts() int {
	t := r.text()  // alike copy-to-read testdata.(*received).text
	s := r.sizes() // alike copy-to-read testdata.(*received).sizes
	return int(t[0]) + s[0]
}

func (r *received) least() string {
	l := r.sorted() // alike copy-to-read testdata.(*received).sorted
	return l[0]
}

func (r *received) count() int {
	n := r.length() // well copy-to-read testdata.(*received).length
	return n + 1
}

package cases

import (
	"hash/fnv"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// repeated-call

func kind(name string) int {
	if strings.ToLower(name) == "" {
		return 0
	}
	if strings.HasPrefix(strings.ToLower(name), "x-") { // sick repeated-call strings.ToLower
		return 1
	}
	return 2
}

func hostAndPort(address string) (string, string) {
	host := strings.Split(address, ":")[0]
	port := strings.Split(address, ":")[1] // sick repeated-call strings.Split
	return host, port
}

func pageOf(r *http.Request) (string, string) {
	page := r.URL.Query().Get("page")
	return page, r.URL.Query().Get("sort") // sick repeated-call net/url.(*URL).Query
}

func pageChanged(r *http.Request, to *url.URL) string {
	page := r.URL.Query().Get("page")
	r.URL = to
	return page + r.URL.Query().Get("sort") // alike repeated-call net/url.(*URL).Query
}

func oneOrOther(name string, long bool) int {
	if long {
		return len(strings.ToUpper(name))
	} else {
		return strings.Count(strings.ToUpper(name), "X") // alike repeated-call strings.ToUpper
	}
}

func behindAnd(name string) bool {
	if name == "" && strings.HasPrefix(strings.ToUpper(name), "X") {
		return true
	}
	return strings.HasPrefix(strings.ToUpper(name), "Y") // alike repeated-call strings.ToUpper
}

func changed(name string) (n int) {
	n = len(strings.TrimSpace(name))
	name = name[1:]
	return n + len(strings.TrimSpace(name)) // alike repeated-call strings.TrimSpace
}

func lists(line string) ([]string, []string) {
	a := strings.Fields(line)
	b := strings.Fields(line) // alike repeated-call strings.Fields
	return a, b
}

func kindWell(name string) bool {
	lower := strings.ToLower(name) // well repeated-call strings.ToLower
	return lower == "" || strings.HasPrefix(lower, "x-")
}

// invariant-call of a function of the package, and of a time

func price(amount int, rate float64) float64 {
	p := 1.0
	for i := 0; i < amount; i++ {
		p *= 1 + rate
	}
	return p
}

var bought int

func counted(amount int) int {
	bought++
	return amount * bought
}

func total(list []float64, amount int, rate float64) (sum float64) {
	for _, v := range list {
		sum += v * price(amount, rate)      // sick invariant-call example.com/shop.price
		sum += v * float64(counted(amount)) // alike invariant-call example.com/shop.counted
		sum += price(int(v), rate)          // well invariant-call example.com/shop.price
	}
	return sum
}

func refused(lines []string, name string) (n int) {
	for _, l := range lines {
		if l == name {
			panic("no line may be " + strings.ToLower(name)) // alike invariant-call strings.ToLower
		}
		n += len(l)
	}
	return n
}

func headers(h map[string][]string) (n int) {
	for name, values := range h {
		for range values {
			n += len(strings.ToLower(name)) // alike invariant-call strings.ToLower
		}
	}
	return n
}

func stamped(lines []string, at time.Time) (out []string) {
	for _, l := range lines {
		out = append(out, at.Format(time.RFC3339)+l) // alike invariant-call time.Time.Format
		at = at.Add(0)
	}
	return out
}

func stampedSame(lines []string, at time.Time) (out []string) {
	for _, l := range lines {
		out = append(out, at.Format(time.RFC3339)+l) // sick invariant-call time.Time.Format
	}
	return out
}

// map-per-call

func month(name string) int {
	return map[string]int{"jan": 1, "feb": 2, "mar": 3}[name] // sick map-per-call runtime.mapassign_faststr
}

func day(name string) int {
	days := map[string]int{
		"mon": 1,
		"tue": 2, // sick map-per-call runtime.mapassign_faststr
		"wed": 3,
	}
	return days[name]
}

func days() map[string]int {
	return map[string]int{"mon": 1, "tue": 2, "wed": 3} // alike map-per-call runtime.mapassign_faststr
}

// map-rows

type rowOf map[string]any

type frame struct {
	rows   []rowOf
	byName map[string]rowOf
}

func (f *frame) add(name string, at int, load float64) {
	f.rows = append(f.rows, rowOf{
		"name": name,
		"at":   at, // sick map-rows runtime.mapassign_faststr
		"load": load,
	})
}

func (f *frame) addAll(names []string) {
	for i, name := range names {
		f.byName[name] = rowOf{"name": name, "at": i, "load": 0.0} // sick map-rows runtime.convT64
	}
}

func (f *frame) addNamed(name string, at int) {
	row := rowOf{"name": name, "at": at, "load": 0.0} // sick map-rows runtime.mapassign_faststr
	f.rows = append(f.rows, row)
}

func (f *frame) addFilled(name string, at int) {
	row := make(rowOf, 3)
	row["name"] = name
	row["at"] = at // sick map-rows runtime.mapassign_faststr
	row["load"] = 0.0
	f.rows = append(f.rows, row)
}

func (f *frame) addGiven(columns []string, values []any) {
	row := make(rowOf, len(columns))
	row["at"] = 1
	row["name"] = "x"
	row["load"] = 0.0
	for i, c := range columns {
		row[c] = values[i] // alike map-rows runtime.mapassign_faststr
	}
	f.rows = append(f.rows, row)
}

func (f *frame) addOptions(name string) {
	f.rows = append(f.rows, rowOf{"name": name, "at": 1}) // alike map-rows runtime.mapassign_faststr
}

func (f *frame) addColumns(name, column string, value any) {
	f.rows = append(f.rows, rowOf{"name": name, "at": 1, column: value}) // alike map-rows runtime.mapassign_faststr
}

func (f *frame) one(name string) rowOf {
	return rowOf{"name": name, "at": 1, "load": 0.0} // alike map-rows runtime.mapassign_faststr
}

func (r rowOf) text(name string) string {
	text, _ := r[name].(string)
	return text
}

// listed gives rows to whoever encodes them, who wants maps.
func listed(names []string) (rows []map[string]float64) {
	for i := range names {
		rows = append(rows, map[string]float64{"at": float64(i), "load": 0.5, "rate": 0.1}) // alike map-rows runtime.mapassign_faststr
	}
	return rows
}

func total(of map[string]float64) float64 { return of["at"] + of["load"] }

type plainRow struct {
	name string
	at   int
	load float64
}

func (f *frame) addWell(rows []plainRow, name string) []plainRow {
	return append(rows, plainRow{name, 1, 0}) // well map-rows
}

func dayFilled(name string) int {
	days := map[string]int{"mon": 1, "tue": 2, "wed": 3} // alike map-per-call runtime.mapassign_faststr
	days["thu"] = 4
	return days[name]
}

var months = map[string]int{"jan": 1, "feb": 2, "mar": 3}

func monthWell(name string) int {
	return months[name] // well map-per-call runtime.mapassign_faststr
}

// template-per-call

func greet(w io.Writer, name string) {
	t := template.Must(template.New("x").Parse(`Dear {{.}}`)) // sick template-per-call html/template.(*Template).Parse
	t.Execute(w, name)
}

func greetIn(w io.Writer, name, text string) {
	t := template.Must(template.New("x").Parse(text)) // alike template-per-call html/template.(*Template).Parse
	t.Execute(w, name)
}

var dear = template.Must(template.New("x").Parse(`Dear {{.}}`))

func greetWell(w io.Writer, name string) {
	dear.Execute(w, name) // well template-per-call html/template.(*Template).Execute
}

// format-now

func line(text string) string {
	return time.Now().UTC().Format(time.RFC3339) + text // sick format-now time.Time.Format
}

func lineExact(text string) string {
	return time.Now().Format(time.RFC3339Nano) + text // alike format-now time.Time.Format
}

func lineOf(at time.Time, text string) string {
	return at.Format(time.RFC3339) + text // well format-now time.Time.Format
}

// recursion-again

func ways(steps int) int {
	if steps < 2 {
		return 1
	}
	return ways(steps-1) + ways(steps-2) // sick recursion-again example.com/shop.ways
}

func waysDown(x, y int) (n int) {
	if x == 0 || y == 0 {
		return 1
	}
	for _, d := range [2]int{0, 1} {
		n += waysDown(x-1, y+d) // sick recursion-again example.com/shop.waysDown
	}
	return n
}

func factorial(n int) int {
	if n < 2 {
		return 1
	}
	return n * factorial(n-1) // alike recursion-again example.com/shop.factorial
}

func halves(from, to int) int {
	if to-from < 2 {
		return from
	}
	mid := (from + to) / 2
	return halves(from, mid) + halves(mid, to) // alike recursion-again example.com/shop.halves
}

func moves(n int, board []int) int {
	if n == 0 {
		return 1
	}
	return moves(n-1, board[1:]) + moves(n-2, board[2:]) // alike recursion-again example.com/shop.moves
}

func waysWell(steps int) int {
	a, b := 1, 1
	for range steps {
		a, b = b, a+b // well recursion-again
	}
	return a
}

// finalizer-per-object

type picture struct {
	name   string
	pixels []byte
}

func (p *picture) Close() {}

func drawn(name string) *picture {
	p := &picture{name: name}
	runtime.SetFinalizer(p, (*picture).Close) // sick finalizer-per-object runtime.SetFinalizer
	return p
}

func (p *picture) shut() {
	runtime.SetFinalizer(p, nil) // alike finalizer-per-object runtime.SetFinalizer
}

type opened struct{ fd int }

func open(fd int) *opened {
	o := &opened{fd}
	runtime.SetFinalizer(o, func(*opened) {}) // alike finalizer-per-object runtime.SetFinalizer
	return o
}

func drawnWell(name string) *picture {
	return &picture{name: name} // well finalizer-per-object runtime.newobject
}

// fnv-object

func shard(key []byte) uint32 {
	h := fnv.New32a() // sick fnv-object hash/fnv.New32a
	h.Write(key)      // sick fnv-object hash/fnv.(*sum32a).Write
	return h.Sum32() % 16
}

func shardText(key string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(key)) // alike bytes-conversion runtime.stringtoslicebyte
	return h.Sum32() % 16
}

func fingerprint(parts [][]byte) uint64 {
	h := fnv.New64a() // alike fnv-object hash/fnv.New64a
	h.Write(parts[0])
	h.Write(parts[1])
	return h.Sum64()
}

func shardWell(key []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range key {
		h = (h ^ uint32(c)) * 16777619 // well fnv-object
	}
	return h % 16
}

package testdata

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// tree-search

type page struct {
	id       int
	title    string
	children []*page
}

func findPage(p *page, id int, above []*page) []*page {
	here := append(above, p)
	if p.id == id {
		return here
	}
	for _, c := range p.children {
		if t := findPage(c, id, here); t != nil { // sick tree-search testdata.findPage
			return t
		}
	}
	return nil
}

func (p *page) find(id int) *page {
	if p.id == id {
		return p
	}
	for _, c := range p.children {
		if f := c.find(id); f != nil { // sick tree-search testdata.(*page).find
			return f
		}
	}
	return nil
}

func titles(p *page, out []string) []string {
	out = append(out, p.title)
	for _, c := range p.children {
		out = titles(c, out) // well tree-search testdata.titles
	}
	return out
}

func depthOf(p *page, least int) (n int) {
	for _, c := range p.children {
		n = max(n, 1+depthOf(c, least)) // alike tree-search testdata.depthOf
	}
	return n
}

// checked-again

type bill struct {
	payer string
	sum   int
}

func validBill(b *bill) error {
	if strings.TrimSpace(b.payer) == "" {
		return errors.New("no payer")
	}
	return nil
}

func submit(b *bill) error {
	if err := validBill(b); err != nil {
		return err
	}
	return save(b)
}

func save(b *bill) error {
	if err := validBill(b); err != nil { // sick checked-again testdata.validBill
		return err
	}
	return nil
}

func enter(b *bill) error {
	b.sum++
	if err := validBill(b); err != nil { // well checked-again testdata.validBill
		return err
	}
	return nil
}

func other(b *bill) error {
	c := *b
	if err := validBill(&c); err != nil {
		return err
	}
	return enterOther(b)
}

func enterOther(b *bill) error {
	return validBill(b) // alike checked-again testdata.validBill
}

func readSum(b *bill, to *int) error {
	*to = b.sum
	b.sum++
	return nil
}

func readTwo(b *bill) error {
	first := 0
	if err := readSum(b, &first); err != nil {
		return err
	}
	return readNext(b)
}

func readNext(b *bill) error {
	next := 0
	return readSum(b, &next) // alike checked-again testdata.readSum
}

// repeated-call through a function

func param(r *http.Request, name string) string {
	return r.URL.Query().Get(name) // sick repeated-call net/url.(*URL).Query
}

func criteria(r *http.Request) []string {
	return []string{param(r, "from"), param(r, "to"), param(r, "day")}
}

func read(u *url.URL) (out []string) {
	get := func(name string) string {
		return u.Query().Get(name) // sick repeated-call net/url.(*URL).Query
	}
	return append(out, get("from"), get("to"), get("day"))
}

func getter(r *http.Request) func(string) string {
	return func(name string) string {
		return r.URL.Query().Get(name) // sick repeated-call net/url.(*URL).Query
	}
}

func once(u *url.URL, name string) string {
	return u.Query().Get(name) // alike repeated-call net/url.(*URL).Query
}

func asked(u, w *url.URL) []string { return []string{once(u, "a"), once(w, "b"), once(u, "c")} }

// nested-marshal

func (p *page) MarshalJSON() ([]byte, error) {
	type plain page
	return json.Marshal((*plain)(p)) // sick nested-marshal encoding/json.Marshal
}

func (b *bill) MarshalJSON() ([]byte, error) {
	return append(append([]byte(`{"payer":"`), b.payer...), '"', '}'), nil // well nested-marshal runtime.growslice
}

func (b *bill) encode() ([]byte, error) {
	return json.Marshal(b.sum) // alike nested-marshal encoding/json.Marshal
}

type payer string

func (p payer) MarshalJSON() ([]byte, error) {
	return json.Marshal("-" + string(p)) // alike nested-marshal encoding/json.Marshal
}

// shift-rest

type lot struct {
	id   int
	data [12]int
}

type yard struct{ lots []lot }

func (y *yard) take(i int) {
	y.lots = slices.Delete(y.lots, i, i+1) // sick shift-rest runtime.memmove
}

func (y *yard) cut(i int) {
	y.lots = append(y.lots[:i], y.lots[i+1:]...) // sick shift-rest runtime.memmove
}

func (y *yard) put(i int, l lot) {
	y.lots = slices.Insert(y.lots, i, l) // sick shift-rest slices.Insert[...]
}

func (y *yard) swap(i int) {
	y.lots[i] = y.lots[len(y.lots)-1] // well shift-rest runtime.memmove
	y.lots = y.lots[:len(y.lots)-1]
}

func without(list []lot, i int) []lot {
	list = slices.Delete(list, i, i+1) // alike shift-rest runtime.memmove
	return list
}

// repeated-call, of what one of several arguments says

type term struct{ key, value string }

type selector map[string]string

func selectorOf(terms []term) selector {
	s := selector{}
	for _, t := range terms {
		s[strings.ToLower(t.key)] = t.value
	}
	return s
}

type ship struct {
	terms   []term
	draught int
}

type berth struct{ attrs map[string]string }

type filter interface {
	admits(s *ship, b *berth) bool
	refuses(s *ship, b *berth) bool
}

type byTerms struct{}

func (byTerms) admits(s *ship, b *berth) bool {
	for key, value := range selectorOf(s.terms) { // sick repeated-call testdata.selectorOf
		if b.attrs[key] != value {
			return false
		}
	}
	return true
}

func (byTerms) refuses(s *ship, b *berth) bool {
	return len(selectorOf(s.terms)) > len(b.attrs) // alike repeated-call testdata.selectorOf
}

func firstBerth(f filter, s *ship, berths []*berth) *berth {
	for _, b := range berths {
		if f.admits(s, b) {
			return b
		}
	}
	return nil
}

func refused(f filter, ships []*ship, b *berth) (n int) {
	for _, s := range ships {
		if f.refuses(s, b) {
			n++
		}
	}
	return n
}

func fits(s ship, b *berth) bool {
	return selectorOf(s.terms)["length"] == b.attrs["length"] // sick repeated-call testdata.selectorOf
}

func whoFits(s ship) func(*berth) bool {
	return func(b *berth) bool { return fits(s, b) }
}

func loaded(s *ship, b *berth) bool {
	return selectorOf(s.terms)["load"] == b.attrs["load"] // alike repeated-call testdata.selectorOf
}

func loadAll(s *ship, berths []*berth) {
	for i, b := range berths {
		s.terms = s.terms[i:]
		if loaded(s, b) {
			return
		}
	}
}

type harbour struct{ ship *ship }

func matches(s *ship, b *berth) bool {
	return len(selectorOf(s.terms)) == len(b.attrs) // alike repeated-call testdata.selectorOf
}

func (h *harbour) whoMatches() func(*berth) bool {
	return func(b *berth) bool { return matches(h.ship, b) }
}

func remembers(h *harbour, b *berth) bool {
	return len(selectorOf(h.ship.terms)) == len(b.attrs) // alike repeated-call testdata.selectorOf
}

func whoRemembers(h *harbour) func(*berth) bool {
	return func(b *berth) bool { return remembers(h, b) }
}

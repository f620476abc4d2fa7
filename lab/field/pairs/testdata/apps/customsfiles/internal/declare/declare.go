// Package declare holds declarations and the goods codes.
package declare

import (
	"fmt"
	"math/rand/v2"
)

// Code is an entry of the tariff of goods.
type Code struct {
	Number string
	Text   string
	Permil int
	Closed bool
}

// Codes is the tariff.
type Codes struct {
	list   []Code
	lookup map[string]int
}

// LoadCodes makes the tariff of the year.
func LoadCodes(n int) *Codes {
	c := &Codes{lookup: make(map[string]int, n)}
	what := []string{"machines", "textiles", "fruit", "chemicals", "paper", "glass", "furniture"}
	for i := range n {
		e := Code{Number: fmt.Sprintf("%08d", 1000000+i*97), Permil: i % 140, Closed: i%2500 == 17}
		e.Text = fmt.Sprintf("%s & parts of %s <%d>", what[i%7], what[i%5], i)
		c.lookup[e.Number] = len(c.list)
		c.list = append(c.list, e)
	}
	return c
}

// Find looks a code up.
func (c *Codes) Find(number string) (Code, bool) {
	i, ok := c.lookup[number]
	if !ok {
		return Code{}, false
	}
	return c.list[i], true
}

// Line is a position of a declaration.
type Line struct {
	Code   string `xml:"code,attr"`
	Text   string `xml:"text"`
	Origin string `xml:"origin"`
	Kilos  int    `xml:"kilos"`
	Cents  int64  `xml:"value"`
}

// Declaration is lodged as one file.
type Declaration struct {
	Number   int64
	Importer string
	Lines    []Line
}

// Book makes the declarations of an agent.
type Book struct {
	codes *Codes
	rnd   *rand.Rand
	next  int64
}

func NewBook(codes *Codes, seed uint64) *Book {
	return &Book{codes: codes, rnd: rand.New(rand.NewPCG(seed, 1)), next: int64(seed) << 32}
}

// Next makes one declaration of 20 to 120 lines.
func (b *Book) Next() *Declaration {
	b.next++
	d := &Declaration{Number: b.next, Importer: fmt.Sprintf("DE%09d", b.rnd.IntN(1e9))}
	n := 20 + b.rnd.IntN(100)
	if b.rnd.IntN(40) == 0 {
		n += 260
	}
	d.Lines = make([]Line, n)
	origins := [...]string{"CN", "US", "VN", "TR", "CH", "GB", "IN"}
	for i := range d.Lines {
		c := b.codes.list[b.rnd.IntN(len(b.codes.list))]
		d.Lines[i] = Line{Code: c.Number, Text: c.Text, Origin: origins[b.rnd.IntN(7)], Kilos: 1 + b.rnd.IntN(900), Cents: int64(b.rnd.IntN(4_000_000))}
	}
	return d
}

// Package contacts keeps a book of contacts.
package contacts

import (
	"fmt"
	"strings"
)

// A Contact is somebody.
type Contact struct {
	First   string `json:"first"`
	Last    string `json:"last"`
	Company string `json:"company"`
	folded  string
}

// A Book is contacts in the order of their names.
type Book struct {
	keep bool
	all  []Contact
}

// NewBook makes an empty book, which may keep names as they are compared.
func NewBook(keep bool) *Book { return &Book{keep: keep} }

var (
	firsts  = []string{"Ágnes", "Björn", "Chloé", "Dieter", "Émile", "Françoise", "Göran", "Héloïse"}
	lasts   = []string{"Ångström", "Bernoulli", "Çelik", "Dürer", "Erdős", "Fröbel"}
	company = []string{"Œuvre & Söhne", "Łódź Textil", "Crème Partners"}
)

// Generate makes a contact up.
func Generate(i int) Contact {
	return Contact{
		First: firsts[i%len(firsts)], Last: fmt.Sprintf("%s-%d", lasts[i/8%len(lasts)], i),
		Company: company[i%len(company)],
	}
}

var plain = strings.NewReplacer("á", "a", "å", "a", "ç", "c", "é", "e", "è", "e", "ë", "e", "ï", "i", "ł", "l", "ö", "o", "ő", "o", "ó", "o", "œ", "oe", "ü", "u", "ź", "z")

// fold is a text without case and accents.
func fold(text string) string { return plain.Replace(strings.ToLower(text)) }

func (c *Contact) text() string {
	if c.folded != "" {
		return c.folded
	}
	return fold(c.First + " " + c.Last + " " + c.Company)
}

// Add adds a contact.
func (b *Book) Add(c Contact) {
	if b.keep {
		c.folded = c.text()
	}
	b.all = append(b.all, c)
}

// Find is up to limit contacts with a text in them.
func (b *Book) Find(text string, limit int) []Contact {
	text = fold(text)
	var out []Contact
	for i := range b.all {
		c := &b.all[i]
		if strings.Contains(c.text(), text) {
			if out = append(out, *c); len(out) == limit {
				break
			}
		}
	}
	return out
}

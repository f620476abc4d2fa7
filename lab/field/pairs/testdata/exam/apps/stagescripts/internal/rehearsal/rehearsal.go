// Package rehearsal tells who has how much to learn.
package rehearsal

import (
	"cmp"
	"errors"
	"slices"
	"sync"

	"stagescripts/internal/lex"
	"stagescripts/internal/scene"
)

// A Part is what somebody has to say.
type Part struct {
	Name     string
	Words    int
	Speeches int
}

// A Company reads plays.
type Company struct {
	grammar *lex.Grammar
	plays   chan string
	wg      sync.WaitGroup

	mu    sync.Mutex
	parts map[string]*Part
	errs  []error
}

// New makes a company of so many readers.
func New(g *lex.Grammar, readers int) *Company {
	c := &Company{grammar: g, plays: make(chan string, readers), parts: map[string]*Part{}}
	for range readers {
		c.wg.Add(1)
		go func() {
			defer c.wg.Done()
			for text := range c.plays {
				c.learn(text)
			}
		}()
	}
	return c
}

// Read hands a play to a reader.
func (c *Company) Read(text string) { c.plays <- text }

// Close waits for the readers, and returns the parts, the longest first.
func (c *Company) Close() ([]Part, error) {
	close(c.plays)
	c.wg.Wait()
	var out []Part
	for _, p := range c.parts {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(a.Name, b.Name))
	})
	return out, errors.Join(c.errs...)
}

func (c *Company) learn(text string) {
	speeches, err := scene.Parse(c.grammar, text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
		return
	}
	for _, s := range speeches {
		p := c.parts[s.Speaker]
		if p == nil {
			p = &Part{Name: s.Speaker}
			c.parts[s.Speaker] = p
		}
		p.Words += s.Words
		p.Speeches++
	}
}

// Package catalog holds what the branches have.
package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"branchstock/internal/branch"
)

// Place is where an article is.
type Place struct {
	Branch  int
	Article branch.Article
}

// Catalog is the stock of all branches by word.
type Catalog struct {
	URL    string
	Client *http.Client

	mu     sync.Mutex
	byWord map[string][]Place
	total  int
}

// Fill takes in the stock of branches, up to width at a time.
func (c *Catalog) Fill(branches, width int) error {
	c.byWord = make(map[string][]Place)
	if width < 2 {
		for n := range branches {
			if err := c.take(n); err != nil {
				return err
			}
		}
		return nil
	}
	errs := make([]error, branches)
	slots := make(chan struct{}, width)
	var wg sync.WaitGroup
	for n := range branches {
		slots <- struct{}{}
		wg.Go(func() {
			errs[n] = c.take(n)
			<-slots
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalog) take(n int) error {
	list, err := c.fetch(n)
	if err != nil {
		return fmt.Errorf("branch %d: %w", n, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range list {
		for _, w := range strings.Fields(a.Title) {
			c.byWord[w] = append(c.byWord[w], Place{n, a})
		}
	}
	c.total += len(list)
	return nil
}

func (c *Catalog) fetch(n int) ([]branch.Article, error) {
	resp, err := c.Client.Get(fmt.Sprintf("%s/branch/%d/stock", c.URL, n))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	var list []branch.Article
	err = json.NewDecoder(resp.Body).Decode(&list)
	return list, err
}

// With returns the places of articles with a word.
func (c *Catalog) With(word string) []Place { return c.byWord[word] }

// Len returns how many articles there are.
func (c *Catalog) Len() int { return c.total }

// Package scans keeps what is known of filed pages.
package scans

import "sync"

// Page describes a page that has been filed.
type Page struct {
	Sum    [32]byte
	Office string
	Size   int
	Ink    float64
}

// Archive knows the last pages by their sum.
type Archive struct {
	mu    sync.Mutex
	pages map[[32]byte]*Page
	ring  [][32]byte
	next  int
	total int
}

func NewArchive(n int) *Archive {
	return &Archive{pages: make(map[[32]byte]*Page, n), ring: make([][32]byte, n)}
}

// File adds a page; it reports false when the page is known.
func (a *Archive) File(p Page) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.pages[p.Sum]; ok {
		return false
	}
	delete(a.pages, a.ring[a.next])
	a.ring[a.next] = p.Sum
	a.next = (a.next + 1) % len(a.ring)
	a.pages[p.Sum] = &p
	a.total++
	return true
}

// Len counts all pages that have been filed.
func (a *Archive) Len() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}

package match

import (
	"iter"

	"settlement/internal/pages"
)

// A cursor steps through records.
type cursor struct {
	next func() (pages.Record, error, bool)
	head pages.Record
	ok   bool
}

// advance goes to the next record.
func (c *cursor) advance() error {
	r, err, ok := c.next()
	if err != nil {
		return err
	}
	c.head, c.ok = r, ok
	return nil
}

// A scope has what a job has opened.
type scope struct{ ends []func() }

func (s *scope) end() {
	for _, f := range s.ends {
		f()
	}
	s.ends = nil
}

// open returns a cursor at the first record.
func (d *Desk) open(s *scope, src pages.Source, j Job) (*cursor, error) {
	next, stop := iter.Pull2(pages.Scan(src, j.Merchant, j.Day))
	if d.opt.Scoped {
		s.ends = append(s.ends, stop)
	}
	c := &cursor{next: next}
	return c, c.advance()
}

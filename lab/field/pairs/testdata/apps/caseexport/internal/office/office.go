// Package office exports cases to the archive of the state.
package office

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"caseexport/internal/bundle"
	"caseexport/internal/docket"
	"caseexport/internal/index"
)

// Office exports cases.
type Office struct {
	Dir    string
	Room   int
	Index  index.Index
	Cases  int
	Papers int
	Bytes  int64
}

// perBundle is how many cases go into a bundle.
const perBundle = 40

// Export writes cases into bundles until the time is over.
func (o *Office) Export(cases [][]*docket.Paper, d time.Duration) error {
	end := time.Now().Add(d)
	for n := 0; time.Now().Before(end); n++ {
		path := filepath.Join(o.Dir, fmt.Sprintf("bundle-%03d.tar", n%8))
		at := n * perBundle % len(cases)
		if err := o.export(path, cases[at:min(at+perBundle, len(cases))]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (o *Office) export(path string, cases [][]*docket.Paper) error {
	b, err := bundle.Create(path, o.Room)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	var list bytes.Buffer
	for _, c := range cases {
		list.Reset()
		for _, p := range c {
			if err := p.Render(&page); err != nil {
				return err
			}
			fmt.Fprintf(&list, "%s  %s\n", o.Index.Add(page.Bytes()), p.Name())
			if err := b.Add(p.Name(), p.Filed, page.Bytes()); err != nil {
				return err
			}
		}
		if err := b.Add(c[0].Case+"/SEALS", time.Now(), list.Bytes()); err != nil {
			return err
		}
		o.Cases++
	}
	n, size, err := b.Close()
	o.Papers += n
	o.Bytes += size
	return err
}

// Clean removes the bundles.
func (o *Office) Clean() error { return os.RemoveAll(o.Dir) }

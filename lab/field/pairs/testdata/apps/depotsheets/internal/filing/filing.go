// Package filing keeps printed sheets as files, each beside its check sum.
package filing

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"
)

// Cabinet is a folder of sheets.
type Cabinet struct {
	Dir   string
	Paged bool
}

// File prints one document into the cabinet and returns its size.
func (c *Cabinet) File(name string, print func(io.Writer) error) (int64, error) {
	f, err := os.CreateTemp(c.Dir, name+".*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()

	doc := &document{to: f, sum: sha256.New()}
	if c.Paged {
		page := bufio.NewWriterSize(doc, 16<<10)
		if err = print(page); err == nil {
			err = page.Flush()
		}
	} else {
		err = print(doc)
	}
	if err != nil {
		return 0, err
	}
	digest := hex.EncodeToString(doc.sum.Sum(nil))
	if err := os.WriteFile(filepath.Join(c.Dir, name+".sum"), []byte(digest+"\n"), 0o644); err != nil {
		return 0, err
	}
	return doc.size, os.Rename(f.Name(), filepath.Join(c.Dir, name+".txt"))
}

// document counts and sums what is printed.
type document struct {
	to   io.Writer
	sum  hash.Hash
	size int64
}

func (d *document) Write(p []byte) (int, error) {
	n, err := d.to.Write(p)
	d.sum.Write(p[:n])
	d.size += int64(n)
	return n, err
}

// Package folders stores the documents of cases in files.
package folders

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options of a cabinet.
type Options struct {
	Folders int
	V2      bool
}

// Entry is a line of a folder's table of contents.
type Entry struct {
	Title string    `json:"title"`
	Pages int       `json:"pages"`
	Seal  string    `json:"seal"`
	Filed time.Time `json:"filed"`
}

// Cabinet is a directory of folders.
type Cabinet struct {
	dir  string
	opts Options

	mu    sync.Mutex
	index map[int]int
}

// Open prepares a cabinet.
func Open(dir string, opts Options) (*Cabinet, error) {
	c := &Cabinet{dir: dir, opts: opts, index: make(map[int]int)}
	for i := range opts.Folders {
		if err := os.WriteFile(c.path(i), []byte("[]"), 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Cabinet) path(number int) string {
	return filepath.Join(c.dir, fmt.Sprintf("case-%04d.json", number))
}

// Len counts the folders that have documents.
func (c *Cabinet) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.index)
}

// Add files a document; the scan arrives while the folder is held.
func (c *Cabinet) Add(number int, e Entry, scan func() ([]byte, error)) error {
	g, err := c.guard(number)
	if err != nil {
		return err
	}
	defer g.release()

	text, err := scan()
	if err != nil {
		return fmt.Errorf("folders: scan of %q: %w", e.Title, err)
	}
	e.Pages = 1 + bytes.Count(text, []byte{'\f'})
	list, err := c.load(number)
	if err != nil {
		return err
	}
	list = append(list, e)
	if len(list) > 120 {
		list = list[len(list)-120:]
	}
	if err := c.save(number, list); err != nil {
		return err
	}
	c.mu.Lock()
	c.index[number] = len(list)
	c.mu.Unlock()
	return nil
}

func (c *Cabinet) load(number int) ([]Entry, error) {
	data, err := os.ReadFile(c.path(number))
	if err != nil {
		return nil, err
	}
	var list []Entry
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("folders: case %d: %w", number, err)
	}
	return list, nil
}

func (c *Cabinet) save(number int, list []Entry) error {
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	tmp := c.path(number) + ".new"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, c.path(number))
}

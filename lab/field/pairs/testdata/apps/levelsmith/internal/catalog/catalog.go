// Package catalog finds the levels of a project on disk.
package catalog

import (
	"os"
	"path/filepath"
	"strings"

	"levelsmith/internal/level"
)

// Catalog is the levels folder of a project.
type Catalog struct {
	dir string
}

// Entry names one level.
type Entry struct {
	Name  string
	Title string
}

// Open takes the levels folder of the project in dir.
func Open(dir string) *Catalog {
	return &Catalog{dir: filepath.Join(dir, "levels")}
}

// Level reads the level of that name.
func (c *Catalog) Level(name string) (*level.Level, error) {
	data, err := os.ReadFile(filepath.Join(c.dir, name+".json"))
	if err != nil {
		return nil, err
	}
	return level.Decode(data)
}

// Entries lists the levels with their titles; what cannot be read is left out.
func (c *Catalog) Entries() []Entry {
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.json"))
	var list []Entry
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if l, err := c.Level(name); err == nil {
			list = append(list, Entry{Name: name, Title: l.Title})
		}
	}
	return list
}

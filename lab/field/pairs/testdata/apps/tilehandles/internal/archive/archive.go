// Package archive reads parts of files and keeps the files open.
package archive

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// An Archive is a folder of sheets.
type Archive struct {
	dir    string
	byName bool
	mu     sync.Mutex
	open   map[string]*os.File
}

// Open opens a folder.
func Open(dir string, byName bool) *Archive {
	return &Archive{dir: dir, byName: byName, open: map[string]*os.File{}}
}

func (a *Archive) key(sheet, tile int) string {
	if a.byName {
		return fmt.Sprint(sheet)
	}
	return fmt.Sprintf("%d/%d", sheet, tile)
}

func (a *Archive) file(sheet, tile int) (*os.File, error) {
	key := a.key(sheet, tile)
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, ok := a.open[key]; ok {
		return f, nil
	}
	f, err := os.Open(filepath.Join(a.dir, fmt.Sprintf("sheet%03d.map", sheet)))
	if err == nil {
		a.open[key] = f
	}
	return f, err
}

// Tile reads a tile of a sheet.
func (a *Archive) Tile(sheet, tile int) ([]byte, error) {
	f, err := a.file(sheet, tile)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 1024)
	_, err = f.ReadAt(out, int64(tile%60)*1024)
	return out, err
}

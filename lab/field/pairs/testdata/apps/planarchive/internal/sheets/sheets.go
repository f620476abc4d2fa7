// Package sheets finds the plans of building files in the archive's tree.
package sheets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrOutside says that a path leads out of the archive.
var ErrOutside = errors.New("sheets: outside of the archive")

// Tree is the tree of one archive.
type Tree struct {
	base string
	mu   sync.RWMutex
	dirs map[string]string
}

// Open opens the archive below dir. With kept, directories are resolved once.
func Open(dir string, kept bool) (*Tree, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	t := &Tree{base: dir}
	if kept {
		t.dirs = make(map[string]string)
	}
	return t, nil
}

// Load reads a sheet, by the path that the file's register names.
func (t *Tree) Load(name string) ([]byte, error) {
	path, err := t.locate(name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return slurp(f)
}

func (t *Tree) locate(name string) (string, error) {
	if t.dirs == nil {
		return t.resolve(name)
	}
	dir, file := filepath.Split(name)
	t.mu.RLock()
	path, ok := t.dirs[dir]
	t.mu.RUnlock()
	if !ok {
		var err error
		if path, err = t.resolve(dir); err != nil {
			return "", err
		}
		t.mu.Lock()
		t.dirs[dir] = path
		t.mu.Unlock()
	}
	return filepath.Join(path, filepath.Base(file)), nil
}

func (t *Tree) resolve(name string) (string, error) {
	base, err := filepath.EvalSymlinks(t.base)
	if err != nil {
		return "", err
	}
	path, err := filepath.EvalSymlinks(filepath.Join(t.base, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	if path != base && !strings.HasPrefix(path, base+string(filepath.Separator)) {
		return "", fmt.Errorf("%w: %s", ErrOutside, name)
	}
	return path, nil
}

func slurp(f *os.File) ([]byte, error) {
	defer f.Close()
	buf := make([]byte, 4096)
	n, err := io.ReadFull(f, buf)
	if err == io.ErrUnexpectedEOF {
		return buf[:n], nil
	}
	if err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(f)
	return append(buf, rest...), err
}

// Package sourcefile finds the files of a program's source that its stacks name.
//
// It hides how the compiler writes those names, and where the go command keeps modules.
package sourcefile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/internal/read/modules"
)

// Paths returns where a file that a stack names may be: where the compiler had it, or, when
// it wrote names without folders (-trimpath), in the module that one of some folders is in,
// or among those that were downloaded. The module is the program's own; where it is "", what
// the folder's go.mod says.
func Paths(file, module string, dirs ...string) (paths []string) {
	if filepath.IsAbs(file) {
		return []string{file}
	}
	local := filepath.FromSlash(file)
	if !filepath.IsLocal(local) {
		return nil
	}
	for _, dir := range dirs {
		root := moduleRoot(dir)
		if root == "" {
			continue
		}
		of := module
		if of == "" {
			of = moduleOf(root)
		}
		if inside, ok := strings.CutPrefix(file, of+"/"); of != "" && ok {
			if inside = filepath.FromSlash(inside); filepath.IsLocal(inside) {
				paths = append(paths, filepath.Join(root, inside))
			}
		} else if module != "" {
			paths = append(paths, filepath.Join(root, local))
		}
	}
	if strings.Contains(file, "@") {
		for _, root := range modules.Caches() {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(modules.Escape(file))))
		}
	}
	return paths
}

// moduleRoot returns the folder of the module that a folder is in; "" where it is in none.
func moduleRoot(dir string) string {
	for up := dir; filepath.IsAbs(up); up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return up
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return ""
}

// maxGoMod bounds the file that names a module.
const maxGoMod = 1 << 20

// moduleOf returns the module that a folder's go.mod names.
func moduleOf(root string) string {
	path := filepath.Join(root, "go.mod")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxGoMod {
		return ""
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(text) {
		if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == "module" {
			return strings.Trim(f[1], "\"`")
		}
	}
	return ""
}

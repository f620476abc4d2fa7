// Package sourcefile finds the files of a program's source that its stacks name.
//
// It hides how the compiler writes those names, and where the go command keeps modules. Its functions are [Paths]
// and [ModuleAround], for what the files import.
package sourcefile

import (
	"cmp"
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
		m := ModuleAround(dir)
		if m == nil {
			continue
		}
		root, of := m.Root, cmp.Or(module, m.Path)
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

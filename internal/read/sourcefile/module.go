package sourcefile

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/internal/read/modules"
)

// A Module is one on this machine.
type Module struct {
	Root     string            // the folder of its go.mod
	Path     string            // that this names
	Versions map[string]string // of the modules that it asks for
}

// ModuleAround returns the module that a folder is in; nil where it is in none.
func ModuleAround(dir string) *Module {
	m := &Module{Root: moduleRoot(dir), Versions: map[string]string{}}
	if m.Root == "" {
		return nil
	}
	for line := range bytes.Lines(goMod(m.Root)) {
		f := strings.Fields(strings.TrimPrefix(string(line), "require "))
		switch {
		case len(f) >= 2 && f[0] == "module" && m.Path == "":
			m.Path = strings.Trim(f[1], "\"`")
		case len(f) >= 2 && modules.IsVersion(f[1]):
			m.Versions[strings.Trim(f[0], "\"`")] = f[1]
		}
	}
	return m
}

// Folder returns where the source of a package is that one of the module imports, and whether it is of the
// module, too; "" where it is not here.
func (m *Module) Folder(pkg string) (dir string, own bool) {
	if rest, ok := within(pkg, m.Path); ok {
		return folder(m.Root, rest), true
	}
	if dir := folder(m.Root, "vendor/"+pkg); dir != "" {
		return dir, false
	}
	for of := pkg; of != "." && of != "/"; of = path.Dir(of) {
		version := m.Versions[of]
		if version == "" {
			continue
		}
		rest, _ := within(pkg, of)
		for _, cache := range modules.Caches() {
			if dir := folder(cache, modules.Escape(of+"@"+version)+"/"+rest); dir != "" {
				return dir, false
			}
		}
	}
	return "", false
}

// within returns the path of a package in a module.
func within(pkg, module string) (rest string, ok bool) {
	if pkg == module {
		return "", module != ""
	}
	return strings.CutPrefix(pkg, module+"/")
}

// folder returns a folder in one; "" where there is none, or it is not in there.
func folder(root, inside string) string {
	inside = filepath.FromSlash(path.Clean(inside))
	if !filepath.IsLocal(inside) {
		return ""
	}
	dir := filepath.Join(root, inside)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
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

// goMod returns the text of a folder's go.mod.
func goMod(root string) []byte {
	path := filepath.Join(root, "go.mod")
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxGoMod {
		return nil
	}
	text, _ := os.ReadFile(path) // one that cannot be read names nothing
	return text
}

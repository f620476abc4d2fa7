package modules

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Change is what a newer version of a module says of functions of the one in use.
type Change struct {
	Version string // the newer one, the latest that this machine has
	Said    string // the line, shortened
	Since   string // the version that it is said of
	In      string // the file of the module that has it
	Of      []int  // which of the functions it speaks of
	About   Improvement
}

// Improvement is what a change makes better.
type Improvement string

// What changes are about.
const (
	Time   Improvement = "time"   // it takes less time
	Memory Improvement = "memory" // it allocates less, and nothing is said of time
	Leak   Improvement = "leak"   // it no longer keeps what it should give back
)

// A Finder compares with the versions in the module cache, whose packages it reads once.
type Finder struct {
	Caches   []string
	packages Packages
}

// Find looks whether the latest version in the module cache changes one of some functions of a module
// and says, in its list of what changed since the version in use, that it is better for some of them in one
// of some subjects. What is newer and not on this machine is not known.
func (f *Finder) Find(spots []Spot, subjects ...Improvement) []Change {
	if len(spots) == 0 {
		return nil
	}
	m := spots[0].Module
	if f.packages == nil {
		f.packages = Packages{}
	}
	for _, cache := range f.Caches {
		used := folder(cache, m)
		newest := latest(cache, m)
		if newest == "" {
			continue
		}
		newer := Module{m.Path, newest}
		if !slices.ContainsFunc(spots, func(s Spot) bool { return f.changes(used, folder(cache, newer), s) }) {
			continue
		}
		text, file := changes(cache, newer)
		list := findLines(text, m.Version, newest, spots, subjects)
		for i := range list {
			list[i].Version, list[i].In = newest, file
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// changes reports whether a function is another one in the newer version of a module, or gone.
func (f *Finder) changes(used, newer string, s Spot) bool {
	key, function, ok := f.packages.Functions(used, s.Dir).Find(s)
	if !ok {
		return false
	}
	changed, gone := f.packages.Functions(newer, s.Dir).Compare(key, function)
	return changed || gone
}

// folder returns the directory of a version of a module.
func folder(cache string, m Module) string {
	return filepath.Join(cache, filepath.FromSlash(Escape(m.Path))+"@"+Escape(m.Version))
}

// latest returns the latest release of a module in the cache that is newer than a version, "" for none.
func latest(cache string, m Module) (version string) {
	dir, name := path.Split(Escape(m.Path))
	entries, _ := os.ReadDir(filepath.Join(cache, filepath.FromSlash(dir)))
	version = m.Version
	for _, e := range entries {
		v, ok := strings.CutPrefix(e.Name(), name+"@")
		if v = unescape(v); ok && e.IsDir() && IsVersion(v) && !strings.Contains(v, "-") && older(version, v) {
			version = v
		}
	}
	if version == m.Version {
		return ""
	}
	return version
}

// older reports whether a version comes before another, by their numbers.
func older(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) < 0 }

// numbers returns those of a version like v1.20.3, without what follows them.
func numbers(version string) (list []int) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	version, _, _ = strings.Cut(version, "+")
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part)
		list = append(list, n)
	}
	return list
}

// maxChanges bounds a list of changes that is read: the longest of the field's modules has 700 KB.
const maxChanges = 4 << 20

// changes reads the list of changes of a module, from a file of its own or from the README, or where its
// folder has none, of the module that it is a part of: repositories of several modules keep one for all.
func changes(cache string, m Module) (text, file string) {
	for p := m.Path; strings.Contains(p, "/"); p = path.Dir(p) {
		dir := folder(cache, Module{p, m.Version})
		if text, file = readNamed(dir, lists); text != "" {
			return text, file
		}
		if text, file = readNamed(dir, readmes); text != "" {
			if text = sectionOfChanges(text); text != "" {
				return text, file
			}
		}
	}
	return "", ""
}

// How lists of changes are named, and what may have one.
var (
	lists   = []string{"changelog", "changes", "history", "news", "release_notes", "release-notes", "releasenotes"}
	readmes = []string{"readme"}
)

// readNamed reads the text of a directory that has one of some names.
func readNamed(dir string, names []string) (text, file string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if !slices.Contains([]string{"", ".md", ".txt", ".rst", ".markdown"}, path.Ext(name)) || !slices.Contains(names, strings.TrimSuffix(name, path.Ext(name))) {
			continue
		}
		if info, err := e.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > maxChanges {
			continue
		}
		if b, err := os.ReadFile(filepath.Join(dir, e.Name())); err == nil {
			return string(b), e.Name()
		}
	}
	return "", ""
}

package modules

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// That a newer version changes a function says nothing. That nothing it comes to there mentions what a
// program spends its time in says that this work is not done any more, or in another way. Who calls whom is
// read by names alone, whatever they are the names of: two functions of one name are both followed, so that
// what is said to be dropped is dropped.

// A Descent is a piece of a stack: a function of a module, those of the module that it comes to, and one of these
// or of another package that it comes to; of the standard library's the symbol is enough.
type Descent struct {
	Outer   Spot
	Through []Spot
	Inner   Spot
}

// own reports whether the inner function is of the module, too.
func (d *Descent) own() bool { return d.Inner.Module == d.Outer.Module }

// maxFolders bounds the packages of one version that are followed: the largest of the field's modules has
// 240 that its functions come to.
const maxFolders = 400

// Dropped returns the latest version of a module in the module cache if its function at the outer end of a
// descent comes to the inner one no more, and "" otherwise: where it or the inner function is gone, where
// something of nearly the same name is there instead, and where the newer version comes to modules that may do it now.
func (f *Finder) Dropped(d Descent) (version string) {
	if f.packages == nil {
		f.packages = Packages{}
	}
	for _, cache := range f.Caches {
		newest := latest(cache, d.Outer.Module)
		if newest == "" {
			continue
		}
		used, ok := f.reached(folder(cache, d.Outer.Module), &d)
		if !ok || !used.names[d.Inner.name()] {
			continue
		}
		newer, ok := f.reached(folder(cache, Module{d.Outer.Path, newest}), &d)
		if !ok || newer.near(&d, &used) || slices.ContainsFunc(newer.foreign, func(p string) bool { return !slices.Contains(used.foreign, p) }) {
			continue
		}
		return newest
	}
	return ""
}

// callbacks are the methods by which the standard library calls back: who mentions their type may have them called.
var callbacks = strings.Fields(`Len Less Swap Push Pop String GoString Format Error Unwrap Is As Read Write Close Seek
	ReadAt WriteAt ReadFrom WriteTo ReadByte WriteByte ReadRune WriteString MarshalJSON UnmarshalJSON MarshalText
	UnmarshalText MarshalBinary UnmarshalBinary MarshalXML UnmarshalXML GobEncode GobDecode Scan Value Set ServeHTTP
	RoundTrip Visit Enabled Handle WithAttrs WithGroup`)

// A reach is what a function of one version comes to.
type reach struct {
	names   map[string]bool // identifiers
	foreign []string        // packages of other modules that its files import
}

// reached follows the outer function of a descent through the packages that those of its functions import, and
// reports whether it is there, and the inner one, where that is of the module.
func (f *Finder) reached(module string, d *Descent) (r reach, ok bool) {
	start := []string{d.Outer.Dir}
	for _, s := range d.Through {
		start = append(start, s.Dir)
	}
	byName, ok := f.followed(module, d.Outer.Path, start)
	key, _, found := f.packages.Functions(module, d.Outer.Dir).Find(d.Outer)
	if !ok || !found {
		return r, false
	}
	if d.own() {
		if _, _, there := f.packages.Functions(module, d.Inner.Dir).Find(d.Inner); !there {
			return r, false
		}
	}
	r.names = map[string]bool{}
	queue := slices.Clone(f.packages.Functions(module, d.Outer.Dir)[key])
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, p := range next.imports {
			if isForeign(p, d.Outer.Path) && !slices.Contains(r.foreign, p) {
				r.foreign = append(r.foreign, p)
			}
		}
		for _, name := range next.mentions {
			if !r.names[name] {
				r.names[name] = true
				queue = append(queue, byName[name]...)
			}
		}
	}
	return r, true
}

// followed returns the functions of some packages of a module, and of those that they import of it, by their
// names without a receiver; not ok where these are too many.
func (f *Finder) followed(module, modulePath string, dirs []string) (byName map[string][]Function, ok bool) {
	byName = map[string][]Function{}
	seen := map[string]bool{}
	for queue := slices.Clone(dirs); len(queue) > 0; queue = queue[1:] {
		dir := queue[0]
		if seen[dir] {
			continue
		}
		if seen[dir] = true; len(seen) > maxFolders {
			return nil, false
		}
		for key, list := range f.packages.Functions(module, dir) {
			typ, name, method := strings.Cut(strings.TrimPrefix(key, ofValue), ".")
			if !method {
				name = typ
			} else if slices.Contains(callbacks, name) {
				byName[typ] = append(byName[typ], list...)
			}
			byName[name] = append(byName[name], list...)
			for _, function := range list {
				for _, p := range function.imports {
					if rest, own := strings.CutPrefix(p, modulePath); own && (rest == "" || rest[0] == '/') {
						queue = append(queue, path.Join(".", filepath.ToSlash(rest)))
					}
				}
			}
		}
	}
	return byName, true
}

// isForeign reports whether a package is of another module.
func isForeign(pkg, module string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return strings.Contains(first, ".") && pkg != module && !strings.HasPrefix(pkg, module+"/")
}

// near reports whether a newer version comes to a function, or to what may do the same under nearly its name: the
// module's own with another case, or a sister in the standard library, as SplitSeq is one of Split.
func (r *reach) near(d *Descent, used *reach) bool {
	name := d.Inner.name()
	if r.names[name] {
		return true
	}
	for n := range r.names {
		if d.own() && strings.EqualFold(n, name) || d.Inner.Path == "" && strings.HasPrefix(n, name) && !used.names[n] {
			return true
		}
	}
	return false
}

// name returns the function's name without its receiver, that of the function around it for a literal.
func (s *Spot) name() string {
	parts := strings.FieldsFunc(plain(s.Symbol), func(r rune) bool { return strings.ContainsRune(".-()*", r) })
	parts = parts[:min(len(parts), 2)]
	if len(parts) == 2 && strings.HasPrefix(parts[1], "func") {
		parts = parts[:1]
	}
	return strings.Join(parts[max(len(parts)-1, 0):], "")
}

package evidence

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A function literal of a function that was inlined is named after the function that it was inlined into:
// who reads "web.serve.Resembles.func1" looks for it in package web, and of slices.Values in main that is no code of
// Go's library. Its file is where it stands in the source.

// nameLiterals gives the literals of inlined functions the names that they have in their own package. The
// outermost frame of a stack keeps its own: goroutines are grouped by it.
func (l *loader) nameLiterals() {
	packages := l.packagesOfFolders()
	for s := range model.Stack(l.m.Stacks.Len()) {
		frames := l.m.Stacks.Frames(s)
		for i := range frames[:max(0, len(frames)-1)] {
			f := &frames[i]
			if !isLiteral(f.Func) {
				continue
			}
			if pkg, name := packageAndName(f.Func); name != "" && f.File != "" {
				if of := packages[folderOf(f.File)]; of != "" && of != pkg {
					f.Func = ownName(of, name, f.Func)
				}
			}
		}
	}
}

// packagesOfFolders returns which package's functions are in each folder, by those that are no literals; "" for
// a folder of two, as of a package and its tests.
func (l *loader) packagesOfFolders() map[string]string {
	files := map[string]string{} // a function of each
	for s := range model.Stack(l.m.Stacks.Len()) {
		for _, f := range l.m.Stacks.Frames(s) {
			if f.File != "" && files[f.File] == "" && !isLiteral(f.Func) {
				files[f.File] = f.Func
			}
		}
	}
	packages := map[string]string{}
	for file, function := range files {
		dir := folderOf(file)
		pkg, _ := packageAndName(function)
		if known, ok := packages[dir]; ok && known != pkg {
			pkg = ""
		}
		packages[dir] = pkg
	}
	return packages
}

func isLiteral(function string) bool { return strings.Contains(function, ".func") }

// packageAndName takes a symbol apart, the package as the linker writes it.
func packageAndName(function string) (pkg, name string) {
	if _, name = model.SplitSymbol(function); name == "" {
		return "", ""
	}
	return function[:len(function)-len(name)-1], name
}

func folderOf(file string) string { return path.Dir(filepath.ToSlash(file)) }

// literalName is the end of a literal's name, with the function around it.
var literalName = regexp.MustCompile(`((?:\(\*?[^()]+\)\.)?[^.()]+\.func\d+[.\d]*(?:-range\d+)?.*)$`)

// ownName returns the name of a literal in its own package, or the one that it has where
// it is none, or of no inlined function.
func ownName(pkg, name, function string) string {
	at := literalName.FindStringIndex(model.WithoutTypes(name))
	if at == nil || at[0] == 0 {
		return function
	}
	return pkg + "." + model.WithoutTypes(name)[at[0]:]
}

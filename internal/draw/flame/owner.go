package flame

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// An Owner says whose a function is: who could change it.
type Owner int

// The owners, from the nearest to the reader to the farthest.
const (
	Own     Owner = iota // of the main package or its module
	Dep                  // of another module, or C
	Std                  // of the standard library
	Runtime              // of the Go runtime, or made by the compiler
	Kernel               // of the operating system
)

// String returns own, dep, std, runtime or kernel.
func (o Owner) String() string {
	if o < Own || o > Kernel {
		return "dep"
	}
	return [...]string{"own", "dep", "std", "runtime", "kernel"}[o]
}

// Owners tells whose the functions of one program are.
type Owners struct{ module string }

// OwnersOf returns the owners of the program that a model is of.
func OwnersOf(m *model.Model) Owners {
	if m.Build == nil || m.Build.Module == "command-line-arguments" {
		return Owners{}
	}
	return Owners{m.Build.Module}
}

// OwnerOf says whose the function of one frame is. Where no build info names the
// module, what neither the library nor a folder of downloaded modules has is
// taken for the program's own.
func (o Owners) OwnerOf(f model.Frame) Owner {
	if kernelFrame(f) {
		return Kernel
	}
	switch name := f.Func; {
	case isRuntime(name, f.File):
		return Runtime
	case strings.HasPrefix(name, "main.") || o.module != "" && o.inModule(name):
		return Own
	case model.IsStd(name):
		return Std
	case !hasPackage(name):
		return Dep
	case o.module == "" && !downloaded(name, f.File):
		return Own
	}
	return Dep
}

// inModule reports whether a function's package is in the module. Tests of a
// package are in one named after it.
func (o Owners) inModule(name string) bool {
	if strings.Contains(name, "%2e") { // how the linker writes dots of a path's last element
		name = strings.ReplaceAll(name, "%2e", ".")
	}
	rest, ok := strings.CutPrefix(name, o.module)
	return ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "_test."))
}

// runtimePrefixes are packages that belong to the runtime, and what the
// compiler and the linker make by themselves.
var runtimePrefixes = []string{
	"runtime.", "internal/runtime/", "runtime/internal/", "internal/abi.", "internal/bytealg.", "internal/cpu.",
	"internal/chacha8rand.", "internal/goarch.", "internal/race.", "internal/msan.", "internal/asan.", "internal/coverage/rtcov.",
	"type:", "type..", "go:", "gosave_systemstack_switch", "_rt0_", "[", "(",
}

// isRuntime knows assembly without a package by its file: the runtime alone
// has such.
func isRuntime(name, file string) bool {
	for _, p := range runtimePrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return strings.HasSuffix(file, ".s") && !hasPackage(name) &&
		(strings.Contains(file, "runtime/") || strings.Contains(file, "internal/bytealg/"))
}

// hasPackage tells a Go function from one of C or assembly: it has a dot after
// the last slash of its path.
func hasPackage(name string) bool {
	head, _, _ := strings.Cut(name, "[") // type arguments hold slashes and dots of their own
	return strings.IndexByte(head[strings.LastIndexByte(head, '/')+1:], '.') > 0
}

// downloaded reports whether a function's file is one of the module cache or a
// vendor folder; of a function without a file, whether its path has a host.
func downloaded(name, file string) bool {
	if file == "" {
		host, _, slash := strings.Cut(name, "/")
		return slash && strings.Contains(host, ".")
	}
	return strings.Contains(file, "@v") || strings.Contains(file, "/vendor/")
}

// kernelFile stands where the kernel's functions would have a source file.
const kernelFile = "[kernel]"

// kernelFrame reports whether a frame is the kernel's by what it says itself:
// addresses of the upper half are the kernel's wherever Linux runs.
func kernelFrame(f model.Frame) bool {
	return f.PC>>63 == 1 || f.File == kernelFile || strings.HasSuffix(f.Func, "_[k]")
}

// maxSymbol is longer than any name of the kernel's.
const maxSymbol = 512

// kernelDepth returns how many frames, from the leaf, are the kernel's.
func kernelDepth(frames []model.Frame) int {
	// Names are looked through for every frame: megabytes of them would be so too.
	if slices.ContainsFunc(frames, func(f model.Frame) bool { return len(f.Func) > maxSymbol }) {
		frames = slices.Clone(frames)
		for i := range frames {
			frames[i].Func = frames[i].Func[:min(len(frames[i].Func), maxSymbol)]
		}
	}
	n := model.KernelDepth(frames)
	for i := n; i < len(frames); i++ {
		if kernelFrame(frames[i]) {
			n = i + 1
		}
	}
	return n
}

package truth

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// HoldersFile is the name of the file beside programs that hold memory.
const HoldersFile = "holders.yaml"

// The kinds of what holds memory. The last two have a row of the account of memory, and no name.
const (
	HeldByGlobal     = "global"
	HeldByGoroutines = "goroutines"
	HeldByTimers     = "timers"
	HeldByFinalizers = "finalizers" // without a name
	HeldOutside      = "native"
	HeldByPages      = "fragmentation"
)

// named are the kinds of holders that have a name in the source.
var named = []string{HeldByGlobal, HeldByGoroutines, HeldByTimers}

// Holders are programs of one binary that hold memory, and what is true of each.
type Holders struct {
	Dir      string   `yaml:"-"`
	About    string   `yaml:"about"`
	Programs []Holder `yaml:"programs"`
}

// A Holder is one program: the kind of what holds its memory, [WantNone] where it is well, and
// its name.
type Holder struct {
	Name   string `yaml:"name"`
	Kind   string `yaml:"kind"`
	Holder string `yaml:"holder"`
}

// InAccount reports whether the account of memory tells it, and not who holds the heap.
func (h *Holder) InAccount() bool { return h.Kind == HeldOutside || h.Kind == HeldByPages }

// ReadHolders reads the truth about the programs in a folder, whose source has the holders.
func ReadHolders(dir string) (*Holders, error) {
	path := filepath.Join(dir, HoldersFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	h := &Holders{Dir: dir}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(h); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	declared, err := declaredIn(dir)
	if err != nil {
		return nil, err
	}
	if err := h.check(declared); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return h, nil
}

// Program returns the one of a name, nil when there is none.
func (h *Holders) Program(name string) *Holder {
	i := slices.IndexFunc(h.Programs, func(p Holder) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &h.Programs[i]
}

// declaredIn returns the variables and functions of the package main in a folder.
func declaredIn(dir string) (map[string]bool, error) {
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		if err != nil {
			return nil, err
		}
		for name := range file.Scope.Objects {
			all["main."+name] = true
		}
	}
	return all, nil
}

// check returns everything that is wrong with what is true of the programs.
func (h *Holders) check(declared map[string]bool) error {
	var faults []error
	names := map[string]bool{}
	for _, p := range h.Programs {
		fault := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s: "+format, append([]any{p.Name}, args...)...))
		}
		if names[p.Name] {
			fault("it is there twice")
		}
		names[p.Name] = true
		switch {
		case slices.Contains(named, p.Kind):
			if p.Holder == "" {
				fault("no holder has a name")
			}
			if strings.HasPrefix(p.Holder, "main.") && !declared[p.Holder] {
				fault("%s is not in the source", p.Holder)
			}
		case slices.Contains([]string{WantNone, HeldByFinalizers, HeldOutside, HeldByPages}, p.Kind):
			if p.Holder != "" {
				fault("%s has no name", p.Kind)
			}
		default:
			fault("%q is no kind", p.Kind)
		}
	}
	return errors.Join(faults...)
}

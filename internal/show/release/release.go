// Package release says whether the newest release of a module changes a function
// that a finding names: then an upgrade may be the fix.
//
// It hides how the go command is asked for releases and their source. [Newest] asks for those of one
// diagnosis, [Newest.Fetch] before it is judged and [Newest.Compare] of what was found.
//
// It is the only step of a diagnosis that may use the network. A recording can
// name any module: what the go command is asked for is checked before, and nothing
// of what it fetches is run.
package release

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/modules"
)

// limit is how long all questions together may take: one takes about a second
// where a proxy answers, and large modules have source of 100 MB.
const limit = 2 * time.Minute

// Newest knows the newest releases of modules, each asked for once.
type Newest struct {
	asker
	releases map[modules.Module]*release // nil: there is nothing to compare with
	failed   map[modules.Module]error
	packages modules.Packages
}

// New returns what knows no release yet. Close removes what asking for them leaves behind.
func New() *Newest {
	return &Newest{releases: map[modules.Module]*release{}, failed: map[modules.Module]error{}, packages: modules.Packages{}}
}

// Close removes the directory in which the go command ran.
func (n *Newest) Close() error { return os.RemoveAll(n.dir) }

// Fetch brings the newest release of a module into the module cache, where there is a newer one than the
// one in use.
func (n *Newest) Fetch(ctx context.Context, m modules.Module) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := n.of(ctx, m)
	return err
}

// of returns the newest release of a module; nil when there is none newer.
func (n *Newest) of(ctx context.Context, m modules.Module) (*release, error) {
	if r, ok := n.releases[m]; ok {
		return r, n.failed[m]
	}
	r, err := n.ask(ctx, m)
	if err != nil {
		r, err = nil, fmt.Errorf("--online: %w", err)
	}
	n.releases[m], n.failed[m] = r, err
	return r, err
}

// ask asks in a directory that is made for the first module.
func (n *Newest) ask(ctx context.Context, m modules.Module) (r *release, err error) {
	if n.dir == "" {
		if n.dir, err = os.MkdirTemp("", "gowhy-release-"); err != nil {
			return nil, fmt.Errorf("cannot ask for newer versions of %s: %w", m.Path, err)
		}
	}
	return n.newest(ctx, m)
}

// Compare adds a sentence to the remedy of each finding that names a function of a
// module of somebody else, where the newest release changes that function or no
// longer has it. What could not be compared becomes a warning. program is the
// program's own module, "" when unknown. The error is that of a ctx that was cancelled.
func (n *Newest) Compare(ctx context.Context, d *diagnosis.Diagnosis, program string) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := comparison{Newest: n, program: program}
	c.findings(limited, d.Findings)
	for _, w := range c.warnings {
		if !slices.Contains(d.Warnings, w) { // Fetch may have said it
			d.Warnings = append(d.Warnings, w)
		}
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

// A comparison is the state of one Compare.
type comparison struct {
	*Newest
	program  string
	late     bool // there is no time left
	warnings []string
}

// A release is the newest of a module.
type release struct {
	version   string
	dir, used string // where its source is, and that of the version in use
}

func (c *comparison) findings(ctx context.Context, list []diagnosis.Finding) {
	for i := range list {
		f := &list[i]
		for _, n := range c.differences(ctx, f.Where) {
			if s := n.String(); !strings.Contains(f.Remedy.Text, s) { // a saved diagnosis may have it
				f.Remedy.Text = strings.TrimSpace(f.Remedy.Text + " " + s)
			}
		}
		c.findings(ctx, f.Symptoms)
	}
}

// A difference is what the newest release of one module does to the functions of
// a finding.
type difference struct {
	modules.Module
	newest        string
	changed, gone []string
}

func (d *difference) String() string {
	var does []string
	if len(d.changed) > 0 {
		does = append(does, "changes "+strings.Join(d.changed, " and "))
	}
	if len(d.gone) > 0 {
		does = append(does, "no longer has "+strings.Join(d.gone, " and "))
	}
	return fmt.Sprintf("%s %s is used; %s, the newest, %s.", d.Path, d.Version, d.newest, strings.Join(does, ", and "))
}

// differences returns those at the places of one finding, one for each module.
func (c *comparison) differences(ctx context.Context, places []diagnosis.Place) (list []*difference) {
	for _, p := range places {
		pkg, symbol := model.SplitSymbol(p.Function)
		s, ok := modules.Locate(pkg, symbol, p.File)
		if !ok || s.Path == c.program {
			continue
		}
		r := c.release(ctx, s.Module)
		if r == nil {
			continue
		}
		name, used, ok := c.packages.Functions(r.used, s.Dir).Find(s)
		if !ok {
			continue // a function literal of the package, or made by a tool
		}
		changed, gone := c.packages.Functions(r.dir, s.Dir).Compare(name, used)
		if !changed && !gone {
			continue
		}
		i := slices.IndexFunc(list, func(d *difference) bool { return d.Module == s.Module })
		if i < 0 {
			i = len(list)
			list = append(list, &difference{Module: s.Module, newest: r.version})
		}
		names := &list[i].changed
		if gone {
			names = &list[i].gone
		}
		if !slices.Contains(*names, used.Name) {
			*names = append(*names, used.Name)
		}
	}
	return list
}

// release returns the newest one of a module; nil when there is none newer, or none that could be had.
func (c *comparison) release(ctx context.Context, m modules.Module) *release {
	if c.late {
		return nil
	}
	r, err := c.of(ctx, m)
	if ctx.Err() != nil {
		c.late = true
		err = fmt.Errorf("--online: cannot ask for newer versions of %s and the modules after it: no answer in time", m.Path)
	}
	if err != nil && !slices.Contains(c.warnings, err.Error()) {
		c.warnings = append(c.warnings, err.Error())
	}
	return r
}

// Package release says whether the newest release of a module changes a function
// that a finding names: then an upgrade may be the fix.
//
// It hides how a module and its version are read from the path of a source file,
// how the go command is asked for releases and their source, and how two versions
// of a function are compared. [Compare] does all of it for a diagnosis.
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
)

// limit is how long all questions together may take: one takes about a second
// where a proxy answers, and large modules have source of 100 MB.
const limit = 2 * time.Minute

// Compare adds a sentence to the remedy of each finding that names a function of a
// module of somebody else, where the newest release changes that function or no
// longer has it. What could not be compared becomes a warning. program is the
// program's own module, "" when unknown. The error is that of a ctx that was cancelled.
func Compare(ctx context.Context, d *diagnosis.Diagnosis, program string) error {
	dir, err := os.MkdirTemp("", "gowhy-release-")
	if err != nil {
		d.Warnings = append(d.Warnings, "--online: cannot ask for newer versions: "+err.Error())
		return nil
	}
	defer os.RemoveAll(dir)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := comparison{asker: asker{dir}, program: program, releases: map[module]*release{}, packages: map[string]functions{}}
	c.findings(limited, d.Findings)
	d.Warnings = append(d.Warnings, c.warnings...)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return nil
}

// A comparison is the state of one Compare.
type comparison struct {
	asker
	program  string
	releases map[module]*release  // nil: there is nothing to compare with
	packages map[string]functions // by directory
	late     bool                 // there is no time left
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
	module
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
	return fmt.Sprintf("%s %s is used; %s, the newest, %s.", d.path, d.version, d.newest, strings.Join(does, ", and "))
}

// differences are those at the places of one finding, one for each module.
func (c *comparison) differences(ctx context.Context, places []diagnosis.Place) (list []*difference) {
	for _, p := range places {
		s, ok := locate(p)
		if !ok || s.path == c.program {
			continue
		}
		r := c.release(ctx, s.module)
		if r == nil {
			continue
		}
		name, used, ok := c.functions(r.used, s.dir).find(s)
		if !ok {
			continue // a function literal of the package, or made by a tool
		}
		now := c.functions(r.dir, s.dir)[name]
		if slices.ContainsFunc(now, func(f function) bool { return f.text == used.text }) {
			continue
		}
		i := slices.IndexFunc(list, func(d *difference) bool { return d.module == s.module })
		if i < 0 {
			i = len(list)
			list = append(list, &difference{module: s.module, newest: r.version})
		}
		names := &list[i].changed
		if len(now) == 0 {
			names = &list[i].gone
		}
		if !slices.Contains(*names, used.name) {
			*names = append(*names, used.name)
		}
	}
	return list
}

// release is the newest one of a module, asked for once; nil when there is none
// newer, or none that could be had.
func (c *comparison) release(ctx context.Context, m module) *release {
	if r, ok := c.releases[m]; ok {
		return r
	}
	if c.late {
		return nil
	}
	r, err := c.newest(ctx, m)
	if ctx.Err() != nil {
		c.late = true
		err = fmt.Errorf("cannot ask for newer versions of %s and the modules after it: no answer in time", m.path)
	}
	if err != nil {
		c.warnings = append(c.warnings, "--online: "+err.Error())
		r = nil
	}
	c.releases[m] = r
	return r
}

package specimen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// ReadAll reads the specimens below a folder and its folder exam, in the order of kinds and
// names. What is wrong with some is an error beside the others.
func ReadAll(dir string) (all []*Specimen, faults error) {
	for _, kind := range Kinds {
		learnt, err := filepath.Glob(filepath.Join(dir, string(kind), "*", "specimen.yaml"))
		faults = errors.Join(faults, err)
		exam, err := filepath.Glob(filepath.Join(dir, string(Exam), string(kind), "*", "specimen.yaml"))
		faults = errors.Join(faults, err)
		for _, path := range append(learnt, exam...) {
			s, err := Read(path)
			if err != nil {
				faults = errors.Join(faults, fmt.Errorf("%s: %w", path, err))
				continue
			}
			all = append(all, s)
		}
	}
	return all, faults
}

// Read reads one specimen.yaml.
func Read(path string) (*Specimen, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	s := &Specimen{Name: filepath.Base(dir), Dir: dir, Kind: Kind(filepath.Base(filepath.Dir(dir)))}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(s); err != nil {
		return nil, err
	}
	return s, s.faults()
}

var version = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+[-+.0-9a-zA-Z]*$`)

// faults returns what is wrong with what is said of a specimen.
func (s *Specimen) faults() (faults error) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = errors.Join(faults, fmt.Errorf(format, args...))
		}
	}
	_, err := os.Stat(filepath.Join(s.Dir, "go.mod"))
	want(!errors.Is(err, fs.ErrNotExist), "there is no go.mod: a driver is a module of its own")
	want(s.About != "", "about says what it is")
	want(slices.Contains(Kinds, s.Kind), "kind %q: its folder is one of %v", s.Kind, Kinds)
	want(len(s.Load) == 0 || s.Ready != "" && s.Time > 0, "a load wants ready and time")
	if s.Kind == Healthy {
		want(len(s.Loads) == len(Loads), "loads are %v", Loads)
		for _, name := range Loads {
			_, ok := s.Loads[name]
			want(ok, "no load %q", name)
		}
		want(s.Class == "" && len(s.Guilty)+len(s.Rules) == 0 && s.Differs == nil, "a healthy one has no class, rules or guilty functions")
		return faults
	}
	want(slices.Contains(Classes, s.Class), "class %q is none of %v", s.Class, Classes)
	want(s.Cause != "" && s.Fix != "", "cause and fix are the truth in words")
	want(len(s.Rules) > 0, "rules name the cause rightly")
	want(s.Differs == nil || slices.Contains(Metrics, s.Differs.Metric) && s.Differs.Ratio > 0, "differs is a metric of %v and a ratio", Metrics)
	if s.Kind == Modules {
		want(s.Module != "" && version.MatchString(s.Sick) && version.MatchString(s.Well) && s.Sick != s.Well, "module, sick and well are a module and two versions")
		want(s.Source != "", "source is where the repair is told")
		want(len(s.SickArgs)+len(s.WellArgs) == 0, "the sides of a module differ by its version only")
		return faults
	}
	want(s.Module == "" && s.Sick == "" && s.Well == "", "only modules have versions")
	want(!slices.Equal(s.SickArgs, s.WellArgs), "sick_args and well_args differ")
	return faults
}

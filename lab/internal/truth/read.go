package truth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// File is the name of the file beside each case.
const File = "truth.yaml"

// What a file may have at most; a real one is two pages.
const (
	maxFile = 256 << 10
	maxRuns = 200
	maxTime = 10 * time.Minute
)

// Read reads one truth.yaml and checks all that can be checked without running
// the program. The case's name is that of the file's folder.
func Read(path string) (*Case, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	c, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c.Dir = filepath.Dir(path)
	c.Name = filepath.Base(c.Dir)
	return c, nil
}

// ReadAll reads the truth of every case under the lab's folder, in the order of
// their names, which are their folders' from there. Cases with faults are all
// named in the error.
func ReadAll(lab string) ([]*Case, error) {
	var (
		cases  []*Case
		faults []error
	)
	err := filepath.WalkDir(lab, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "internal" || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || d.Name() != File:
			return nil
		}
		c, err := Read(path)
		if err != nil {
			faults = append(faults, err)
			return nil
		}
		if rel, err := filepath.Rel(lab, c.Dir); err == nil {
			c.Name = filepath.ToSlash(rel)
		}
		cases = append(cases, c)
		return nil
	})
	return cases, errors.Join(append(faults, err)...)
}

// decode reads the text of a file. Fields that the format does not have are
// errors: a misspelt one would silently ask for nothing.
func decode(data []byte) (*Case, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d KiB", maxFile>>10)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	c := new(Case)
	if err := d.Decode(c); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("it is empty")
		}
		return nil, err
	}
	if err := d.Decode(new(Case)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it holds more than one document")
	}
	return c, c.check()
}

// check returns everything that is wrong with a case.
func (c *Case) check() error {
	k := checker{names: map[string]bool{}}
	if strings.TrimSpace(c.About) == "" {
		k.errorf("about is missing: say in a sentence what the program is")
	}
	if c.Time < 0 || c.Time > maxTime {
		k.errorf("time is %v, not 0 to %v", c.Time, maxTime)
	}
	if n := len(c.Illnesses) + len(c.Healthy); n == 0 || n > maxRuns {
		k.errorf("there are %d illnesses and healthy runs, not 1 to %d", n, maxRuns)
	}
	k.args("the case", c.Args, c.Load, c.Beside)
	if s := c.Server; s != nil && (s.Name == "" || s.Variable == "" || !slices.ContainsFunc(s.Args, func(arg string) bool { return strings.Contains(arg, "{server}") })) {
		k.errorf("the server has a name, a variable with its address, and args in which {server} is that")
	}
	for i := range c.Illnesses {
		k.illness(c, &c.Illnesses[i])
	}
	for i := range c.Useless {
		k.change(&c.Useless[i])
	}
	for i := range c.Healthy {
		r := &c.Healthy[i]
		at := k.name("healthy", r.Name)
		k.args(at, r.Args, r.Load, r.Beside)
		k.rules(at, r.Expect...)
		k.served(c, at, r.Load)
	}
	return errors.Join(k.faults...)
}

// A checker collects faults.
type checker struct {
	names  map[string]bool
	faults []error
}

func (k *checker) errorf(format string, args ...any) {
	k.faults = append(k.faults, fmt.Errorf(format, args...))
}

// runName names a run in tests, tables and the names of files, with a slash
// between it and the case's.
var runName = regexp.MustCompile(`^[A-Za-z0-9]+((, | |-)[A-Za-z0-9]+)*$`)

// name checks the name of anything, which no other of its kind has, and
// returns how it is spoken of.
func (k *checker) name(kind, name string) string {
	at := fmt.Sprintf("%s %q", kind, name)
	if !runName.MatchString(name) {
		k.errorf("%s: a name is of letters and digits, with spaces, commas or - between", at)
	}
	if k.names[at] {
		k.errorf("%s: the name is there twice", at)
	}
	k.names[at] = true
	return at
}

func (k *checker) illness(c *Case, ill *Illness) {
	at := k.name("illness", ill.Name)
	if !slices.Contains(Families, ill.Family) {
		k.errorf("%s: family %q is none of %s", at, ill.Family, strings.Join(Families, ", "))
	}
	k.rules(at, append(slices.Concat(ill.Also, ill.Left), ill.Rule)...)
	if slices.Contains(ill.Also, ill.Rule) || slices.Contains(ill.Left, ill.Rule) {
		k.errorf("%s: %s is what must be said when sick and must not when healed; it cannot be in also or left", at, ill.Rule)
	}
	if slices.Equal(ill.Sick, ill.Healed) {
		k.errorf("%s: sick and healed are the same", at)
	}
	for dose, args := range ill.Doses {
		if !(dose > 0 && dose < 1) {
			k.errorf("%s: dose %v is not between 0, which is healed, and 1, which is sick", at, dose)
		}
		if slices.Equal(args, ill.Sick) || slices.Equal(args, ill.Healed) {
			k.errorf("%s: dose %v is the same as sick or healed", at, dose)
		}
		k.args(at, args)
	}
	for name, size := range ill.Sizes {
		if !runName.MatchString(name) || name == "usual" {
			k.errorf("%s: size %q: a name is of letters and digits, and usual is what the illness itself has", at, name)
		}
		if slices.Equal(size.Sick, size.Healed) || slices.Equal(size.Sick, ill.Sick) && slices.Equal(size.Load, ill.Load) {
			k.errorf("%s: size %s: sick is the same as healed or as the illness itself", at, name)
		}
		k.args(at, size.Sick, size.Healed, size.Load)
		k.served(c, at, size.Load)
	}
	k.args(at, ill.Sick, ill.Healed, ill.Load, ill.Beside)
	k.metric(at, ill.Metric, ill.Ops)
	k.served(c, at, ill.Load)
}

func (k *checker) change(c *Change) {
	at := k.name("useless", c.Name)
	if slices.Equal(c.From, c.To) {
		k.errorf("%s: from and to are the same", at)
	}
	if c.Metric == "" {
		k.errorf("%s: it has no metric to be judged by", at)
	}
	k.args(at, c.From, c.To)
	k.metric(at, c.Metric, c.Ops)
}

func (k *checker) metric(at, metric string, ops float64) {
	if metric != "" && !slices.Contains(Metrics, metric) {
		k.errorf("%s: metric %q is none of %s", at, metric, strings.Join(Metrics, ", "))
	}
	if !(ops >= 0 && ops < 1e15) {
		k.errorf("%s: ops is %v", at, ops)
	}
}

// served asks for what load cannot be offered without.
func (k *checker) served(c *Case, at string, load []string) {
	if len(load)+len(c.Load) == 0 {
		return
	}
	if c.Ready == "" {
		k.errorf("%s: there is load, and no ready to wait for", at)
	}
	if c.Time == 0 {
		k.errorf("%s: there is load, and no time that it takes", at)
	}
}

// ruleName is how rules are named: one word.
var ruleName = regexp.MustCompile(`^[a-z]+$`)

func (k *checker) rules(at string, rules ...string) {
	for _, r := range rules {
		if !ruleName.MatchString(r) {
			k.errorf("%s: %q is no rule's name", at, r)
		}
	}
}

// placeholder is what looks like one. A JSON body like {"a":1} does not.
var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// Placeholders are what arguments may have in them.
var Placeholders = []string{"{port}", "{dir}", "{case}", "{gowhy}"}

func (k *checker) args(at string, lists ...[]string) {
	for _, args := range lists {
		for _, arg := range args {
			for _, p := range placeholder.FindAllString(arg, -1) {
				if !slices.Contains(Placeholders, p) {
					k.errorf("%s: %s in %q is none of %s", at, p, arg, strings.Join(Placeholders, ", "))
				}
			}
			if strings.ContainsRune(arg, 0) {
				k.errorf("%s: an argument has a zero byte in it", at)
			}
		}
	}
}

// Rules returns all that the case names, each once and sorted.
func (c *Case) Rules() []string {
	var all []string
	for i := range c.Illnesses {
		ill := &c.Illnesses[i]
		all = append(slices.Concat(all, ill.Also, ill.Left), ill.Rule)
	}
	for i := range c.Healthy {
		all = append(all, c.Healthy[i].Expect...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Illness returns the one of a name, nil when there is none.
func (c *Case) Illness(name string) *Illness {
	for i := range c.Illnesses {
		if c.Illnesses[i].Name == name {
			return &c.Illnesses[i]
		}
	}
	return nil
}

// Run returns the healthy run of a name, nil when there is none.
func (c *Case) Run(name string) *Run {
	for i := range c.Healthy {
		if c.Healthy[i].Name == name {
			return &c.Healthy[i]
		}
	}
	return nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"
)

const schema = 1

// A Result is all that a run found, as results.json has it.
type Result struct {
	Schema  int      `json:"schema"`
	Date    string   `json:"date"`
	Machine Machine  `json:"machine"`
	Rounds  int      `json:"rounds"`
	Figures []Spread `json:"figures"`
	Runs    []Figure `json:"runs"`
}

// A Machine is what figures were taken on; nothing in it tells which one it was.
type Machine struct {
	OS, Arch string
	Cores    int
	CPU      string // model
	Go       string
}

// A Figure is what one run of a measurement found.
type Figure struct {
	Measurement string  `json:"measurement"`
	Round       int     `json:"round"`
	Name        string  `json:"name"`
	Unit        string  `json:"unit"`
	Value       float64 `json:"value"`
	// Bar is what was to be reached, 0 where nothing was: at most that, or at least.
	Bar     float64 `json:"bar,omitempty"`
	AtLeast bool    `json:"at_least,omitempty"`
}

// A Spread is the median of a figure with its extremes.
type Spread struct {
	Figure
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// summarize makes figures of runs.
func (r *Result) summarize() {
	for _, run := range r.Runs {
		same := func(s Spread) bool { return s.Name == run.Name }
		if slices.ContainsFunc(r.Figures, same) {
			continue
		}
		var values []float64
		for _, other := range r.Runs {
			if other.Name == run.Name {
				values = append(values, other.Value)
			}
		}
		slices.Sort(values)
		s := Spread{Figure: run, Low: values[0], High: values[len(values)-1]}
		s.Value, s.Round = (values[(len(values)-1)/2]+values[len(values)/2])/2, 0
		r.Figures = append(r.Figures, s)
	}
}

// met says whether a figure reached its bar.
func (s *Spread) met() string {
	switch {
	case s.Bar == 0:
		return ""
	case s.AtLeast == (s.Value >= s.Bar) || s.Value == s.Bar:
		return "met"
	}
	return "missed"
}

func (s *Spread) bar() string {
	switch {
	case s.Bar == 0:
		return ""
	case s.AtLeast:
		return "≥ " + plain(s.Bar)
	}
	return "≤ " + plain(s.Bar)
}

// plain returns a number with three digits that count.
func plain(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2f M", v/1e6)
	case v >= 100 || v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// write writes the table.
func (r *Result) write(to io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "# The fleet's store, %s\n\n%s/%s, %d cores, %s, %s. %d rounds; medians with the least and the largest.\n\n",
		r.Date, m.OS, m.Arch, m.Cores, m.CPU, m.Go, r.Rounds)
	b.WriteString("| figure | measured | least to largest | to reach | |\n|---|---:|---:|---:|---|\n")
	for i := range r.Figures {
		s := &r.Figures[i]
		fmt.Fprintf(&b, "| %s | %s %s | %s to %s | %s | %s |\n", s.Name, plain(s.Value), s.Unit, plain(s.Low), plain(s.High), s.bar(), s.met())
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// save writes results.json and README.md into a new directory below parent; another one of
// the same day keeps its own.
func (r *Result) save(parent string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	m := r.Machine
	name := r.Date + "-" + slug(fmt.Sprintf("%s-%s-%d-%s-%s", m.OS, m.Arch, m.Cores, m.CPU, m.Go))
	dir := filepath.Join(parent, name)
	err := os.Mkdir(dir, 0o755)
	for n := 2; errors.Is(err, os.ErrExist) && n < 100; n++ {
		dir = filepath.Join(parent, fmt.Sprintf("%s.%02d", name, n))
		err = os.Mkdir(dir, 0o755)
	}
	if err != nil {
		return "", err
	}
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return dir, err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), append(data, '\n'), 0o644); err != nil {
		return dir, err
	}
	f, err := os.Create(filepath.Join(dir, "README.md"))
	if err != nil {
		return dir, err
	}
	return dir, errors.Join(r.write(f), f.Close())
}

func slug(s string) string {
	fields := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.Join(fields, "-")
}

func thisMachine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), Go: runtime.Version()}
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(data)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			m.CPU = strings.TrimSpace(model)
			break
		}
	}
	return m
}

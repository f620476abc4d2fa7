package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A Problem is what is wrong with a line of a file.
type Problem struct {
	File    string
	Line    int
	Message string
}

// Problems are all that is wrong, by line. It is the error of [Load].
type Problems []Problem

// Error returns a line for each problem, as editors read it.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, x := range p {
		lines[i] = fmt.Sprintf("%s:%d: %s", x.File, x.Line, x.Message)
	}
	return strings.Join(lines, "\n")
}

// A reader goes through the nodes of a file and collects what is wrong with them.
type reader struct {
	file     string
	problems Problems
}

func (r *reader) problem(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.file, n.Line, fmt.Sprintf(format, args...)})
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// document returns the root of a text of one document, nil when it is not YAML or empty.
func (r *reader) document(text []byte) *yaml.Node {
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err == nil {
		if err = d.Decode(&more); errors.Is(err, io.EOF) {
			return doc.Content[0]
		} else if err == nil {
			r.problem(&more, "a second document: put all into one")
			return nil
		}
	}
	message, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		line, _ = strconv.Atoi(m[1])
	}
	r.problem(&yaml.Node{Line: max(1, line)}, "it is not YAML: %s", message)
	return nil
}

// Keys are the keys of a mapping, each with what reads its value.
type keys map[string]func(*yaml.Node)

// mapping reads a mapping that has no other keys.
func (r *reader) mapping(n *yaml.Node, what string, known keys) {
	r.pairs(n, what, func(key, value *yaml.Node) {
		read, ok := known[key.Value]
		if !ok {
			hint := "it may have " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")
			if near, ok := problem.Correction(key.Value, slices.Sorted(maps.Keys(known))); ok {
				hint = fmt.Sprintf("do you mean %q?", near)
			}
			r.problem(key, "%s has no key %q: %s", what, key.Value, hint)
			return
		}
		read(value)
	})
}

// pairs reads each pair of a mapping.
func (r *reader) pairs(n *yaml.Node, what string, each func(key, value *yaml.Node)) {
	if n = resolved(n); n.Kind != yaml.MappingNode {
		r.problem(n, "%s must be a mapping, KEY: VALUE", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			r.problem(key, "%s has a key that is no text", what)
			continue
		}
		if seen[key.Value] {
			r.problem(key, "%s has the key %q twice", what, key.Value)
			continue
		}
		seen[key.Value] = true
		each(key, n.Content[i+1])
	}
}

// list reads each element of a list.
func (r *reader) list(n *yaml.Node, what string, each func(*yaml.Node)) {
	if n = resolved(n); n.Kind != yaml.SequenceNode {
		r.problem(n, "%s must be a list, with - before each element", what)
		return
	}
	for _, e := range n.Content {
		each(e)
	}
}

// resolved returns a node, or what it is an alias of.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// longest bounds a text of a configuration.
const longest = 4096

// scalar returns a text, "" with a problem where there is none.
func (r *reader) scalar(n *yaml.Node, what string) string {
	n = resolved(n)
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "":
		r.problem(n, "%s is empty", what)
	case len(n.Value) > longest || strings.ContainsFunc(n.Value, unicode.IsControl):
		r.problem(n, "%s is longer than %d bytes or has a control character", what, longest)
	default:
		return n.Value
	}
	return ""
}

func (r *reader) text(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) { *to = r.scalar(n, what) }
}

// oneOf reads one of two words.
func (r *reader) oneOf(to *string, what, a, b string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if s := r.scalar(n, what); s == a || s == b {
			*to = s
		} else if s != "" {
			r.problem(n, "%s is %q, not %s or %s", what, s, a, b)
		}
	}
}

// anyText reads a text that may be "", which scalar takes for a value that was forgotten.
func (r *reader) anyText(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if v := resolved(n); v.Kind == yaml.ScalarNode && v.Tag != "!!null" && v.Value == "" {
			*to = ""
			return
		}
		*to = r.scalar(n, what)
	}
}

func (r *reader) texts(to *[]string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.list(n, what, func(e *yaml.Node) {
			if s := r.scalar(e, "an element of "+what); s != "" {
				*to = append(*to, s)
			}
		})
	}
}

// path reads the path of a file, relative to the one that is read.
func (r *reader) path(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if s := r.scalar(n, what); s != "" {
			*to = r.relative(s)
		}
	}
}

func (r *reader) relative(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.file), path)
}

func (r *reader) boolean(to *bool, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		switch s := r.scalar(n, what); s {
		case "true", "false":
			*to = s == "true"
		case "":
		default:
			r.problem(n, "%s is %q, not true or false", what, s)
		}
	}
}

// number reads a whole number that is not negative.
func (r *reader) number(to *int64, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s := r.scalar(n, what)
		if s == "" {
			return
		}
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < 0 {
			r.problem(n, "%s is %q, not a whole number of 0 or more", what, s)
			return
		}
		*to = v
	}
}

func (r *reader) price(to *float64, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s := r.scalar(n, what)
		if s == "" {
			return
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0) || math.IsInf(v, 0) {
			r.problem(n, "%s is %q, not a number of 0 or more", what, s)
			return
		}
		*to = v
	}
}

// duration reads a duration as Go or Prometheus write it: 1h30m, 30d.
func (r *reader) duration(to *time.Duration, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s := r.scalar(n, what)
		if s == "" {
			return
		}
		d, err := durationOf(s)
		if err != nil {
			r.problem(n, "%s is %q, not a duration like 15s, 12h or 30d", what, s)
			return
		}
		*to = d
	}
}

var days = regexp.MustCompile(`^(\d{1,5})([dw])(.*)$`)

// durationOf is time.ParseDuration with days and weeks before it.
func durationOf(s string) (time.Duration, error) {
	var sum time.Duration
	for m := days.FindStringSubmatch(s); m != nil; m = days.FindStringSubmatch(s) {
		n, _ := strconv.Atoi(m[1])
		unit := 24 * time.Hour
		if m[2] == "w" {
			unit *= 7
		}
		if n > int(math.MaxInt64/unit) {
			return 0, errors.New("too long")
		}
		if sum += time.Duration(n) * unit; sum < 0 {
			return 0, errors.New("too long")
		}
		if s = m[3]; s == "" {
			return sum, nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, err
	}
	if d < 0 || sum+d < 0 {
		return 0, errors.New("negative")
	}
	return sum + d, nil
}

// address reads the URL of a server.
func (r *reader) address(to *string, what string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		s := r.scalar(n, what)
		if s == "" {
			return
		}
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			r.problem(n, "%s is %q, not a URL like https://pyroscope.example:4040", what, s)
			return
		}
		*to = s
	}
}

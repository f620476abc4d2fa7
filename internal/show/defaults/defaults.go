// Package defaults reads what a user wants to be so in every command: a file gowhy.yaml,
// found upwards from the working directory, and variables GOWHY_….
//
// It hides the shape of both and where a value stands, for messages. A [Setting] is a
// flag of a command with its value; which flags there are, and which of them may be set
// so, knows package cli.
package defaults

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// Name is that of the file.
const Name = "gowhy.yaml"

// A Setting is a flag of a command with its value.
type Setting struct {
	Command string // "" is every command
	Flag    string
	Value   string
	Where   string // for messages: gowhy.yaml:3, or the variable
}

// maxFile bounds what is read: a file of settings has some lines.
const maxFile = 1 << 20

// Find returns the path of the file in dir or the next directory above that has one; ""
// where none has.
func Find(dir string) string {
	for {
		path := filepath.Join(dir, Name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// Read reads the settings of a file, which is called name in messages:
//
//	width: 100
//	record:
//	  duration: 10s
//	  without: [kernel, offcpu]
//
// Errors are of type [*problem.Error] and begin with the file's name and the line.
func Read(name string, r io.Reader) (list []Setting, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, problem.New(problem.Misuse, "", "%s: more than %d MiB are no settings", name, maxFile>>20)
	}
	f := file{name}
	var doc yaml.Node
	switch err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil // empty, or only comments
	case err != nil:
		return nil, f.syntax(err)
	}
	err = f.pairs(doc.Content[0], func(key, value *yaml.Node) error {
		if value.Kind != yaml.MappingNode {
			return f.add(&list, "", key, value)
		}
		return f.pairs(value, func(flag, value *yaml.Node) error { return f.add(&list, key.Value, flag, value) })
	})
	return list, err
}

// A file is one that is read.
type file struct{ name string }

func (f file) at(line int) string { return f.name + ":" + strconv.Itoa(line) }

const example = "record:   and indented below it   duration: 10s"

// pairs hands on the keys of a mapping with their values; each may stand there once.
func (f file) pairs(n *yaml.Node, do func(key, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return problem.New(problem.Misuse, example, "%s: names with values are wanted here", f.at(n.Line))
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return problem.New(problem.Misuse, example, "%s: a name is wanted here", f.at(key.Line))
		}
		if slices.Contains(seen, key.Value) {
			return problem.New(problem.Misuse, "", "%s: %q is there twice", f.at(key.Line), key.Value)
		}
		seen = append(seen, key.Value)
		if err := do(key, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// add adds a flag with its value, which may be a list.
func (f file) add(list *[]Setting, command string, flag, value *yaml.Node) error {
	values := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		values = value.Content
	}
	var texts []string
	for _, v := range values {
		if v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
			return problem.New(problem.Misuse, example, "%s: %q wants a value, or a list of them", f.at(flag.Line), flag.Value)
		}
		texts = append(texts, v.Value)
	}
	*list = append(*list, Setting{command, flag.Value, strings.Join(texts, ","), f.at(flag.Line)})
	return nil
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// syntax takes the line out of the words of package yaml.
func (f file) syntax(err error) error {
	text, at := err.Error(), f.name
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if text = text[len(m[0]):]; m[1] != "" {
			at += ":" + m[1]
		}
	}
	return problem.New(problem.Misuse, example, "%s: %s", at, text)
}

// Environment returns the settings of a command among variables NAME=VALUE, as
// GOWHY_RECORD_DURATION=10s and, for every command, GOWHY_WIDTH=100.
func Environment(environ []string, command string, everywhere []string) (list []Setting) {
	prefix := Variable(command, "")
	for _, set := range environ {
		name, value, _ := strings.Cut(set, "=")
		if flag, ok := strings.CutPrefix(name, prefix); ok && flag != "" {
			list = append(list, Setting{command, strings.ToLower(strings.ReplaceAll(flag, "_", "-")), value, name})
		}
		for _, flag := range everywhere {
			if name == Variable("", flag) {
				list = append(list, Setting{"", flag, value, name})
			}
		}
	}
	return list
}

// Variable returns the name of the variable for a flag of a command; "" is every command.
func Variable(command, flag string) string {
	name := "GOWHY_"
	if command != "" {
		name += command + "_"
	}
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToUpper(name + flag))
}

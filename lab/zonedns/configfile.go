package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
)

// configure sets the flags that a file names, as an object of JSON, and the
// command line does not: {"addr": "127.0.0.1:5300", "limit": 100, "allow": ["127.0.0.0/8"]}.
func configure(f *flag.FlagSet, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("-config: %w", err)
	}
	named, seen := map[string]bool{}, map[string]bool{}
	f.Visit(func(g *flag.Flag) { named[g.Name] = true })
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	fault := func(format string, args ...any) error {
		line := 1 + bytes.Count(text[:d.InputOffset()], []byte("\n"))
		return fmt.Errorf("-config %s:%d: %w", path, line, fmt.Errorf(format, args...))
	}
	const shape = `hint: {"addr": "127.0.0.1:5300", "limit": 100}`
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fault("want one object of JSON\n" + shape)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return fault("%w\n"+shape, err)
		}
		name := key.(string) // the decoder lets nothing else be a key
		g := f.Lookup(name)
		switch {
		case g == nil:
			return fault("no flag is called %q\nhint: %q", name, nearest(f, name))
		case name == "config":
			return fault("one file names no other\nhint: put its keys here")
		case seen[name]:
			return fault("%q is there twice\nhint: leave one", name)
		}
		seen[name] = true
		var value any
		if err := d.Decode(&value); err != nil {
			return fault("%w\n"+shape, err)
		}
		if named[name] {
			continue
		}
		values, ok := flagValues(g, value)
		if !ok {
			return fault("%q cannot be that\nhint: zonedns -help", name)
		}
		for _, v := range values {
			if err := f.Set(name, v); err != nil {
				return fault("%q: %w\nhint: zonedns -help", name, err)
			}
		}
	}
	if _, err := d.Token(); err != nil {
		return fault("the object has no end\n" + shape)
	}
	if _, err := d.Token(); err != io.EOF {
		return fault("more than one object\n" + shape)
	}
	return nil
}

// flagValues writes a value of JSON as on the command line. A list is for flags
// that may be repeated; those of package flag itself, which can be asked for
// what they hold, hold one value.
func flagValues(g *flag.Flag, value any) (values []string, ok bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, true
	case json.Number:
		return []string{v.String()}, true
	case bool:
		return []string{strconv.FormatBool(v)}, true
	case []any:
		if _, single := g.Value.(flag.Getter); single {
			return nil, false
		}
		for _, one := range v {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			values = append(values, text)
		}
		return values, true
	}
	return nil, false
}

// nearest returns the flag whose name takes the fewest edits.
func nearest(f *flag.FlagSet, name string) (best string) {
	least := -1
	f.VisitAll(func(g *flag.Flag) {
		if n := edits(name, g.Name); least < 0 || n < least {
			best, least = g.Name, n
		}
	})
	return best
}

// edits counts the letters to insert, to delete and to replace.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			n := before
			if a[i] != b[j] {
				n++
			}
			before = row[j+1]
			row[j+1] = min(n, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

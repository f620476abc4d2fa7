package cli

import (
	"fmt"
	"io"

	"levelsmith/internal/catalog"
	"levelsmith/internal/level"
)

// Options are the settings of the tool.
type Options struct {
	Dir string
	V2  bool
}

// New makes the tool for a project.
func New(o Options) *Tree {
	cat := catalog.Open(o.Dir)
	on := func(f func(io.Writer, *level.Level) error) func(io.Writer, string) error {
		return func(out io.Writer, name string) error {
			l, err := cat.Level(name)
			if err != nil {
				return err
			}
			return f(out, l)
		}
	}
	t := &Tree{commands: map[string]*Command{
		"stat":  {Short: "print the figures of a level", Run: on(stat)},
		"check": {Short: "look for faults in a level", Run: on(check)},
		"pack":  {Short: "make the shipped form of a level", Run: on(pack)},
	}}
	if o.V2 {
		for _, c := range t.commands {
			c.ArgsFunc = func() []string { return words(cat) }
		}
		return t
	}
	levels := words(cat)
	for _, c := range t.commands {
		c.ValidArgs = levels
	}
	return t
}

func words(cat *catalog.Catalog) []string {
	var list []string
	for _, e := range cat.Entries() {
		list = append(list, e.Name+"\t"+e.Title)
	}
	return list
}

func stat(out io.Writer, l *level.Level) error {
	kinds := make(map[string]int)
	for _, p := range l.Props {
		kinds[p.Kind]++
	}
	_, err := fmt.Fprintf(out, "%s: %dx%d, %d props of %d kinds\n", l.Title, l.Width, l.Height, len(l.Props), len(kinds))
	return err
}

func check(out io.Writer, l *level.Level) error {
	if err := l.Check(); err != nil {
		return fmt.Errorf("%s: %w", l.Name, err)
	}
	_, err := fmt.Fprintf(out, "%s: good\n", l.Name)
	return err
}

func pack(out io.Writer, l *level.Level) error {
	data, digest, err := l.Pack()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %d bytes, %s\n", l.Name, len(data), digest)
	return err
}

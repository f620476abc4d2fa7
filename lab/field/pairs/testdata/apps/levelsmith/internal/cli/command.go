// Package cli is the tree of commands.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Command is one command of the tool.
type Command struct {
	Short     string
	ValidArgs []string        // offered by the shell's completion as "name<TAB>title"
	ArgsFunc  func() []string // the same, for commands without ValidArgs
	Run       func(out io.Writer, name string) error
}

// Tree is the tool: the commands by name.
type Tree struct {
	commands map[string]*Command
}

// Execute runs the command that args begin with.
func (t *Tree) Execute(out io.Writer, args []string) error {
	if len(args) == 3 && args[0] == "__complete" {
		return t.complete(out, args[1], args[2])
	}
	if len(args) != 2 {
		return errors.New("want a command and a level")
	}
	c := t.commands[args[0]]
	if c == nil {
		return fmt.Errorf("unknown command %q", args[0])
	}
	return c.Run(out, args[1])
}

func (t *Tree) complete(out io.Writer, name, prefix string) error {
	c := t.commands[name]
	if c == nil {
		return nil
	}
	words := c.ValidArgs
	if c.ArgsFunc != nil {
		words = c.ArgsFunc()
	}
	for _, w := range words {
		if strings.HasPrefix(w, prefix) {
			fmt.Fprintln(out, w)
		}
	}
	return nil
}

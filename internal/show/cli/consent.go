package cli

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/trial"
)

// consent asks whether what a file names may be run here. Where there is nobody to ask, it
// may not; again is how to say so beforehand.
func (c *command) consent(ctx context.Context, what *trial.Foreign, again string) error {
	if what == nil {
		return nil
	}
	text := []string{"gowhy: " + "this command comes from " + what.From + ":"}
	if what.Command != nil {
		text = append(text, "  "+shell.Words(what.Command))
	}
	if what.Dir != "" {
		text = append(text, "  in "+shell.Word(what.Dir))
	}
	for _, set := range what.Env {
		text = append(text, "  with "+shell.Word(set))
	}
	for _, m := range what.Modules {
		text = append(text, "  built with "+shell.Word(m))
	}
	for _, line := range text {
		fmt.Fprintln(c.Stderr, layout.Safe(line))
	}
	if !c.canAsk() {
		return problem.New(problem.Misuse, again+"   # if you trust the file as you trust a script", "there is no terminal to confirm on that this may run")
	}
	fmt.Fprint(c.Stderr, "gowhy: run it? [y/N] ")
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(c.Stdin).ReadString('\n') // its end is a no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(c.Stderr)
		return problem.New(problem.Interrupt, "", "interrupted: nothing was run")
	case a := <-answer:
		if a == "y" || a == "yes" {
			return nil
		}
	}
	return problem.New(problem.Misuse, again+"   # runs it without asking", "nothing was run")
}

// withFlag puts a flag before a command that follows --.
func withFlag(args []string, flag string) []string {
	at := slices.Index(args, "--")
	if at < 0 {
		at = len(args)
	}
	return slices.Insert(slices.Clone(args), at, flag)
}

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/show/defaults"
)

// settable are the flags that gowhy.yaml and variables may set: how much, how long, in
// which shape. What is run, read, written or reached stands on the command line: a
// directory that somebody got from others must not say it.
var settable = []string{
	"benchtime", "budget", "duration", "fail-on", "format", "goal", "guard", "margin", "no-count", "no-diagnose", "no-floor", "no-godebug",
	"no-open", "output-logs", "pairs", "primary", "redact", "sort", "sources", "time-limit", "top", "trace-limit", "verbose", "width", "without", "workers",
}

// settableWords are what those of them may be that are words of a list, the same in every
// command.
var settableWords = map[string][]string{"goal": goals, "fail-on": failOn, "sources": record.SourceNames(), "without": record.SourceNames()}

// everywhere are those that all commands have.
var everywhere = []string{"width"}

// withSettings has commands take what is set for them before their arguments are checked:
// variables, then the file, and what the command line says before both.
func (c *command) withSettings(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		c.withSettings(sub)
	}
	check := cmd.Args
	if cmd.DisableFlagParsing || check == nil && !cmd.Runnable() {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := c.settle(cmd, settingsName(cmd)); err != nil {
			return err
		}
		if check == nil {
			return nil
		}
		return check(cmd, args)
	}
}

// settingsName returns what a command is called there. That without a name diagnoses.
func settingsName(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return "diagnose"
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// settle sets those flags of a command that are not on the command line.
func (c *command) settle(cmd *cobra.Command, name string) error {
	return c.settleFlags(cmd.Root(), cmd.Flags(), name)
}

func (c *command) settleFlags(root *cobra.Command, flags *pflag.FlagSet, name string) error {
	set := defaults.Environment(os.Environ(), name, everywhere)
	file, err := fileSettings()
	if err != nil {
		return err
	}
	for _, s := range file {
		if err := checkSetting(root, s); err != nil {
			return err
		}
		if s.Command == name || s.Command == "" {
			set = append(set, s)
		}
	}
	for _, s := range set {
		f := flags.Lookup(s.Flag)
		if f == nil && below(root, name) && strings.HasPrefix(s.Where, "GOWHY_") {
			continue // that of a command below this one
		}
		if f == nil && s.Command == "" {
			continue // there is no width in this set
		}
		if f == nil || !slices.Contains(settable, s.Flag) {
			return unknownSetting(s, flags)
		}
		if f.Changed { // by the command line, or by what comes before this
			continue
		}
		if known := settableWords[s.Flag]; known != nil {
			for _, word := range strings.Split(s.Value, ",") {
				if !slices.Contains(known, word) {
					return usageError(s.Flag+": "+problem.Likely(word, known), "%s: %s %q is none of %s", s.Where, s.Flag, word, strings.Join(known, ", "))
				}
			}
		}
		if err := flags.Set(s.Flag, s.Value); err != nil {
			wanted, ok := flagValues[f.Value.Type()]
			if !ok {
				return usageError("", "%s: %s %q: %v", s.Where, s.Flag, s.Value, err)
			}
			return usageError("", "%s: %s %q is not %s", s.Where, s.Flag, s.Value, wanted)
		}
	}
	return nil
}

// fileSettings returns those of the file, none without one.
func fileSettings() ([]defaults.Setting, error) {
	dir, err := filepath.Abs(".")
	if err != nil {
		return nil, nil // the working directory is gone, and no file can be found from it
	}
	path := defaults.Find(dir)
	if path == "" {
		return nil, nil
	}
	name := path
	if in, err := filepath.Rel(dir, path); err == nil {
		name = in
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, problem.New(problem.Misuse, "", "cannot read %q: %v", name, problem.Cause(err))
	}
	defer f.Close()
	return defaults.Read(name, f)
}

// checkSetting refuses a line for a command or a flag that there is not, whatever command
// is run: else it would be found out at another time.
func checkSetting(root *cobra.Command, s defaults.Setting) error {
	if s.Command == "" {
		if slices.Contains(everywhere, s.Flag) {
			return nil
		}
		if find(root, s.Flag) != nil {
			return usageError(s.Flag+":   and its flags below it, indented", "%s: %q is a command, and has flags", s.Where, s.Flag)
		}
		return usageError("width: 100, or a command and its flags below it", "%s: there is no setting %q for every command", s.Where, s.Flag)
	}
	cmd := find(root, s.Command)
	if cmd == nil {
		var names []string
		for _, sub := range root.Commands() {
			names = append(names, sub.Name())
		}
		hint := "gowhy --help"
		if near, ok := problem.Correction(s.Command, names); ok {
			hint = near + ":"
		}
		return usageError(hint, "%s: there is no command %q", s.Where, s.Command)
	}
	if cmd.Flags().Lookup(s.Flag) == nil || !slices.Contains(settable, s.Flag) {
		return unknownSetting(s, cmd.Flags())
	}
	return nil
}

// find returns a command by its path below the root; nil for none.
func find(root *cobra.Command, path string) *cobra.Command {
	cmd, rest, err := root.Find(strings.Fields(path))
	if err != nil || len(rest) > 0 || cmd == root {
		return nil
	}
	return cmd
}

// below reports whether a command has others below it.
func below(root *cobra.Command, name string) bool {
	cmd := find(root, name)
	return cmd != nil && cmd.HasAvailableSubCommands()
}

func unknownSetting(s defaults.Setting, flags *pflag.FlagSet) error {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(settable, f.Name) {
			names = append(names, f.Name)
		}
	})
	if flags.Lookup(s.Flag) != nil && !slices.Contains(settable, s.Flag) {
		return usageError("give --"+s.Flag+" on the command line", "%s: --%s stands on the command line only, as all that says what is run, read, written or reached", s.Where, s.Flag)
	}
	hint := "one of " + strings.Join(names, ", ")
	if near, ok := problem.Correction(s.Flag, names); ok {
		hint = "did you mean " + near + "?"
	}
	return usageError(hint, "%s: %s has no setting %q", s.Where, s.Command, s.Flag)
}

// Package cli is the command line: flags, subcommands and the joining of
// the packages that know something.
//
// It hides how terminals differ (width, colour, the progress line), which
// error gives which exit code, and what a signal or a closed pipe does. Its
// only function is [Main]. One file holds one command.
//
// cli knows nothing itself: it neither reads evidence nor judges it, and the
// rules are handed to it.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gowhy/gowhy/docs"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// Options are what a main function hands over.
type Options struct {
	Rules []*diagnosis.Rule
	// Args are the arguments without the program's name; nil means os.Args[1:].
	Args []string
	// The standard streams; nil means those of the process.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// The exit codes that scripts can rely on.
const (
	exitWell         = 0
	exitBroken       = 1 // something failed
	exitMisused      = 2 // wrong flags or arguments
	exitFindings     = 3 // findings at or over --fail-on
	exitRegression   = 4 // an experiment says that it became worse
	exitInconclusive = 5 // an experiment says that it cannot tell
	exitNoEvidence   = 6 // nothing to read, or nothing could be recorded
	exitSignal       = 130
)

// exits are the codes of problems.
var exits = map[problem.Kind]int{problem.Failure: exitBroken, problem.Misuse: exitMisused, problem.Absence: exitNoEvidence, problem.Interrupt: exitSignal}

// An exit is a code that says something by itself, like that of the command that
// was recorded. err, which may be nil, is what there is to be said.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func usageError(hint, format string, args ...any) error {
	return problem.New(problem.Misuse, hint, format, args...)
}

// Main runs the command line and returns the exit code.
func Main(o Options) int {
	if os.Getenv(subject.CalibrateVariable) != "" {
		subject.Calibrate() // we are the process that measures the machine's noise
		return exitWell
	}
	if o.Args == nil {
		o.Args = os.Args[1:]
	}
	if o.Stdin == nil {
		o.Stdin = os.Stdin
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Stderr == nil {
		o.Stderr = os.Stderr
	}
	// net/http tells what a server sends unasked through package log; what is of use of
	// that is in our errors.
	log.SetOutput(io.Discard)
	// Caught, not ignored: a program started by `record` must not inherit it.
	// A write to a closed pipe then fails with EPIPE, which code treats as an
	// ending like any other: `gowhy … | head` keeps its exit code.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	c := &command{Options: o}
	root := c.root()
	root.SetArgs(o.Args)
	return c.code(root.ExecuteContext(ctx))
}

// A command is one run of the command line.
type command struct {
	Options
	running bool // flags and arguments were accepted
	width   int  // of what is printed; 0 is the terminal's
}

// code reports an error in the manner of the house and returns its exit code.
func (c *command) code(err error) int {
	var known *problem.Error
	var run *experiment.RunError
	var end *exit
	hint := ""
	switch {
	case err == nil:
		return exitWell
	case errors.Is(err, syscall.EPIPE):
		return exitWell
	case errors.As(err, &end):
		what := end.Error()
		if errors.As(end.err, &known) {
			what, hint = known.What, known.Hint
		}
		c.complain(what, hint)
		return end.code
	case errors.As(err, &run): // before the problem in it, which does not know the arm
		if errors.As(err, &known) {
			hint = known.Hint
		}
		c.complain(run.Error(), hint)
		return exitBroken
	case errors.As(err, &known):
		c.complain(known.What, known.Hint)
		return exits[known.Kind]
	case errors.Is(err, context.Canceled):
		c.complain("interrupted", "")
		return exitSignal
	case !c.running: // cobra's own: an unknown flag, too many arguments
		c.complain(err.Error(), "gowhy --help")
		return exitMisused
	}
	c.complain(err.Error(), "")
	return exitBroken
}

// complain writes what is wrong and what to do. Names of files and symbols in
// it come from anywhere.
func (c *command) complain(what, hint string) {
	if what == "" {
		return
	}
	fmt.Fprintf(c.Stderr, "gowhy: %s\n", quoted(what))
	if hint != "" {
		fmt.Fprintf(c.Stderr, "hint: %s\n", layout.Safe(hint))
	}
}

// quoted returns a message made safe for a terminal. What a program printed last is
// quoted in some, in lines that are indented.
func quoted(what string) string {
	const indent = "\n    "
	lines := strings.Split(what, indent)
	for i, l := range lines {
		lines[i] = layout.Safe(l)
	}
	return strings.Join(lines, indent)
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "gowhy (FILE... | URL | PID | -- CMD)",
		Short: "Say why a Go program is slow or expensive, and what to change",
		Long: `gowhy reads what a Go program left behind, traces, profiles, dumps, logs and
results of load tests, or records one that runs. It names the bottleneck, what
to change, and an upper bound on what that brings.`,
		Example: `  gowhy trace.out                        diagnose a trace
  gowhy trace.out cpu.pprof              with the CPU profile of the same run
  go test -trace trace.out && gowhy trace.out
  gowhy http://localhost:6060            record a server, and diagnose it
  gowhy 4242                             a process; gowhy -- CMD a command
  gowhy demo                             watch it find, fix and prove a problem`,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			c.running = true
			if cmd.Flags().Changed("width") && c.width < narrowest {
				return usageError("--width 100", "--width %d is less than %d columns", c.width, narrowest)
			}
			return unavailable(runtime.GOOS, cmd, args)
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Version:           versionLine(),
	}
	root.SetVersionTemplate("{{.Version}}")
	root.PersistentFlags().IntVar(&c.width, "width", 0, "print text this many `COLUMNS` wide (default the terminal's, else 80)")
	flags := diagnoseFlags(root)
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && c.redirected() {
			args = []string{"-"} // gowhy < trace.out
		}
		if len(args) == 0 {
			return c.short(cmd)
		}
		if f, command := runningTarget(cmd, args); f != nil {
			f.diagnosis = *flags
			if err := c.settleRecord(cmd, f); err != nil {
				return err
			}
			if err := f.check(cmd, command); err != nil {
				return err
			}
			return c.record(cmd.Context(), f, command)
		}
		if err := c.mistyped(cmd, args[0]); err != nil {
			return err
		}
		return c.diagnose(cmd.Context(), args, flags)
	}
	root.SetIn(c.Stdin)
	root.SetOut(c.Stdout)
	root.SetErr(c.Stderr)
	cobra.AddTemplateFunc("flags", func(cmd *cobra.Command) string { return cmd.LocalFlags().FlagUsagesWrapped(helpWidth) })
	root.SetHelpTemplate(helpTemplate)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		// cobra complains of a closed pipe, as in `gowhy -h | head`.
		var b bytes.Buffer
		cmd.SetOut(&b)
		help(cmd, args)
		_, _ = c.Stdout.Write(b.Bytes())
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd == root && len(c.Args) > 0 && !strings.HasPrefix(c.Args[0], "-") {
			// A mistyped command has flags that gowhy FILE does not know.
			if err := c.mistyped(cmd, c.Args[0]); err != nil {
				return err
			}
		}
		return flagError(cmd, err)
	})
	for _, g := range c.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, sub := range g.commands {
			sub.GroupID = g.title
			root.AddCommand(sub)
		}
	}
	root.AddCommand(wordsTopic())
	c.withSettings(root)
	root.InitDefaultHelpCmd()
	c.refuseOtherTopics(root)
	for _, sub := range root.Commands() {
		sub.Hidden = sub.Hidden || sub.Name() == "help" // every command's -h does it
	}
	return root
}

// refuseOtherTopics makes gowhy help TOPIC an error where there is no such command: without
// it the help of gowhy itself answers.
func (c *command) refuseOtherTopics(root *cobra.Command) {
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return
	}
	print := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			if found, _, err := root.Find(args); err != nil || found == root {
				return c.noTopic(root, args[0])
			}
		}
		print(cmd, args)
		return nil
	}
}

// noTopic returns the error of help about what is no command: a rule has its page elsewhere.
func (c *command) noTopic(root *cobra.Command, topic string) error {
	if slices.ContainsFunc(c.Rules, func(r *diagnosis.Rule) bool { return r.Name == topic }) {
		return usageError("gowhy explain "+topic, "%q is a rule and no command", topic)
	}
	hint := "gowhy --help"
	if near, ok := problem.Correction(topic, commandNames(root)); ok {
		hint = "gowhy help " + near
	}
	return usageError(hint, "there is no help about %q", topic)
}

func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return names
}

// wordsTopic returns the glossary: gowhy help words.
func wordsTopic() *cobra.Command {
	words := &cobra.Command{Use: "words", Short: "What the terms mean", Long: docs.Words, Hidden: true}
	words.SetHelpTemplate("{{.Long}}")
	return words
}

// flagError says what is wrong with a flag, and which was perhaps meant.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near, ok := problem.Correction(unknown.GetSpecifiedName(), names); ok {
			hint = "did you mean --" + near + "?"
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		if wanted, ok := flagValues[invalid.GetFlag().Value.Type()]; ok {
			return usageError(hint, "--%s %q is not %s", invalid.GetFlag().Name, invalid.GetValue(), wanted)
		}
	}
	return usageError(hint, "%v", err)
}

// flagValues are what flags take, by the names that pflag has for their types.
var flagValues = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number from 0 on",
	"float64": "a number", "duration": "a time like 10s", "bool": "true or false",
}

// A commandGroup is a heading of the help with its commands.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

func (c *command) groups() []commandGroup {
	return []commandGroup{
		{"Look", []*cobra.Command{c.diagnoseCommand(), c.viewCommand(), c.reportCommand(), c.ledgerCommand(), c.memoryCommand(), c.flameCommand(), c.exportCommand(), c.explainCommand()}},
		{"Record", []*cobra.Command{c.recordCommand(), c.listCommand(), c.topCommand(), c.doctorCommand(), c.demoCommand()}},
		{"Prove", []*cobra.Command{c.verifyCommand(), c.tuneCommand(), c.capacityCommand(), c.compareCommand(), c.countCommand(), c.gateCommand(), c.loadCommand(), c.whatIfCommand()}},
		{"Fleet", []*cobra.Command{c.serveCommand(), c.agentCommand(), c.fleetCommand()}},
		{"More", []*cobra.Command{c.versionCommand(), c.completionCommand(), c.manCommand(), c.pprofCommand()}},
	}
}

// helpTemplate begins with examples: most readers look for the line to copy.
const helpTemplate = `{{with .Example}}{{. | trimTrailingWhitespaces}}

{{end}}{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}Usage:
  {{.UseLine}}{{if .HasAvailableSubCommands}}{{range $group := .Groups}}

{{.Title}}:{{range $.Commands}}{{if and .IsAvailableCommand (eq .GroupID $group.ID)}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{flags . | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" tells more about a command{{if not .HasParent}}, "gowhy help words" what
the terms mean{{end}}.{{end}}
`

// helpWidth is the width that help is written for, whatever the terminal has.
const helpWidth = 80

// short prints the text of bare gowhy: enough to begin.
func (c *command) short(cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "gowhy: %s\n\n%s\n", lowerFirst(cmd.Short), cmd.Example)
	for _, g := range cmd.Groups() {
		fmt.Fprintf(&b, "\n%s:\n", g.Title)
		for _, sub := range cmd.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-11s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	if file := newest("*.gowhy", "trace.out"); file != "" {
		fmt.Fprintf(&b, "\nIn this directory:\n  gowhy %s\n", layout.Safe(shell.Word(file)))
	}
	b.WriteString("\n\"gowhy --help\" tells more.\n")
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

// newest returns the file of the current directory that was written last, of those that match
// a pattern; "" when there is none.
func newest(patterns ...string) (file string) {
	var last time.Time
	for _, p := range patterns {
		files, _ := filepath.Glob(p) // fails for a bad pattern only
		for _, f := range files {
			if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() && info.ModTime().After(last) {
				file, last = f, info.ModTime()
			}
		}
	}
	return file
}

// redirected reports whether standard input is a file with something in it. A
// pipe is not looked at: one that nobody writes to would make bare gowhy wait.
func (c *command) redirected() bool {
	f, ok := c.Stdin.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// runningTarget returns what to record where the arguments name a program that runs, or after
// "--" a command, and no file; nil when they do not.
func runningTarget(cmd *cobra.Command, args []string) (f *recordFlags, command []string) {
	f = &recordFlags{limit: traceLimit}
	if cmd.ArgsLenAtDash() == 0 {
		return f, args
	}
	if len(args) != 1 {
		return nil, nil
	}
	if _, err := os.Lstat(args[0]); err == nil {
		return nil, nil
	}
	switch arg := args[0]; {
	case strings.HasPrefix(arg, "http://"), strings.HasPrefix(arg, "https://"):
		f.target.URL = arg
	case hostPort.MatchString(arg):
		if f.target.URL = "http://" + arg; arg[0] == ':' {
			f.target.URL = "http://localhost" + arg
		}
	default:
		pid, err := strconv.Atoi(arg)
		if err != nil || pid <= 0 {
			return nil, nil
		}
		f.target.PID = pid
	}
	return f, nil
}

// hostPort is how servers are written in front of which nobody writes a scheme.
var hostPort = regexp.MustCompile(`^([\w.-]*|\[[0-9a-fA-F:.]+\]):\d{1,5}$`)

// otherNames are what commands are called elsewhere.
var otherNames = map[string]string{
	"attach": "record --pid", "bench": "verify", "diff": "compare", "flamegraph": "flame", "html": "report", "live": "view --live",
	"monitor": "top", "optimize": "tune", "profile": "record", "prove": "verify", "ps": "list", "rules": "explain", "run": "record --",
	"simulate": "whatif", "start": "record --", "trace": "view", "ui": "view", "watch": "top", "web": "view",
}

// mistyped tells a wrong command from a file that is not there.
func (c *command) mistyped(cmd *cobra.Command, arg string) error {
	if scheme, _, ok := strings.Cut(arg, "://"); ok && !strings.HasPrefix(scheme, "http") {
		return usageError("gowhy http://localhost:6060", "%q cannot be recorded: only addresses of http and https can", arg)
	}
	if arg == "-" || strings.ContainsAny(arg, `/\.`) {
		return nil
	}
	if _, err := os.Lstat(arg); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	hint := "gowhy --help"
	s, ok := otherNames[arg]
	if !ok {
		s, ok = problem.Correction(arg, commandNames(cmd))
	}
	switch {
	case strings.Contains(arg, ":"):
		hint = "gowhy localhost:6060   # the number of a port ends an address"
	case ok:
		hint = "gowhy " + s
		if slices.Index(c.Args, arg) == 0 && len(c.Args) > 1 { // flags may come before it
			hint += " " + shell.Words(c.Args[1:])
		}
	}
	return usageError(hint, "%q is neither a command nor a file", arg)
}

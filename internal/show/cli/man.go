package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manCommand is hidden: packages bring the pages along, and who has none reads --help.
func (c *command) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual, a page for each command",
		Example: "  gowhy man /usr/local/share/man/man1",
		Hidden:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError("gowhy man .", "man takes the directory to write to")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, page := range documented(cmd.Root()) {
				if err := os.WriteFile(filepath.Join(args[0], pageName(page)+".1"), []byte(manPage(page)), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// documented returns a command and those below it that help shows.
func documented(cmd *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, documented(sub)...)
		}
	}
	return list
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns the help of a command in roff, with the macros of man(7).
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := roff(pageName(cmd))
	line(`.TH %s 1 "%s" "gowhy %s"`, strings.ToUpper(name), roff(committed()), roff(version()))
	line(".SH NAME\n%s \\- %s", name, roff(lowerFirst(cmd.Short)))
	line(".SH SYNOPSIS\n.B %s", roff(cmd.UseLine()))
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n")
	for _, p := range strings.Split(text, "\n\n") {
		// What is indented is laid out by hand: a list, or lines to copy.
		if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			line(".PP\n.nf\n%s\n.fi", roff(p))
		} else {
			line(".PP\n%s", roff(p))
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				line(".TP\n%s\n%s", flagTerm(f), flagText(f))
			}
		})
	}
	if subs := cmd.Commands(); len(subs) > 0 && cmd.HasAvailableSubCommands() {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			if sub.IsAvailableCommand() {
				line(".TP\n.B %s\n%s", roff(sub.CommandPath()), roff(sub.Short))
			}
		}
	}
	if cmd.Example != "" {
		line(".SH EXAMPLES\n.nf\n%s\n.fi", roff(cmd.Example))
	}
	var also []string
	for _, other := range documented(cmd.Root()) {
		if other != cmd && (other.Parent() == cmd || cmd.Parent() == other || !cmd.HasParent()) {
			also = append(also, ".BR "+roff(pageName(other))+" (1)")
		}
	}
	line(".SH SEE ALSO\n%s", strings.Join(also, ",\n"))
	return b.String()
}

func flagTerm(f *pflag.Flag) string {
	term := `\fB` + roff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		term = `\fB` + roff("-"+f.Shorthand) + `\fR, ` + term
	}
	if value, _ := pflag.UnquoteUsage(f); value != "" {
		term += ` \fI` + roff(value) + `\fR`
	}
	return term
}

// flagText says of a flag what help says: its default too, where that is something.
func flagText(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "0s", "false", "[]":
	default:
		text += " (default " + f.DefValue + ")"
	}
	return roff(text)
}

// committed returns the day of the commit that the binary was built from; "" if unknown.
func committed() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if day, _, ok := strings.Cut(s.Value, "T"); ok && s.Key == "vcs.time" {
				return day
			}
		}
	}
	return ""
}

// roff is text that means itself: a dash that can be copied, no macro at the
// beginning of a line, and quotes that end no argument.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, `"`, `\(dq`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

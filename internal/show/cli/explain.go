package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/draw/listing"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/show/report"
)

// explainFlags are those of explain.
type explainFlags struct {
	source  bool
	dir     string
	reading readOptions
}

func (c *command) explainCommand() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain [RULE|NUMBER [FILE...]]",
		Short: "Explain a finding in full, or a rule: what it sees, why, the fix",
		Long: `Prints the page of a rule, or without an argument all rules with their titles.

With a recording, prints all of what the rule found in it, or of the finding
that the diagnosis gives this number. With --source the functions that the
finding points at follow: each line with the CPU time and the allocations of
itself and what it calls, and what the compiler says escapes to the heap there.
Run it in the program's module: only files of that module or workspace are
shown, and the compiler runs as go build -gcflags=-m.`,
		Example: `  gowhy explain
  gowhy explain oversubscribed
  gowhy explain 1 run.gowhy
  gowhy explain boxedargs run.gowhy --source`,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return c.ruleNames(), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.listRules()
			}
			if n, err := strconv.Atoi(args[0]); err == nil && len(args) > 1 {
				return c.explainNumber(cmd.Context(), n, args[1:], f)
			}
			rule, err := c.rule(args[0])
			if err != nil {
				return err
			}
			if len(args) > 1 {
				return c.explainRule(cmd.Context(), rule.Name, args[1:], f)
			}
			if f.source {
				return usageError("gowhy explain "+rule.Name+" run.gowhy --source", "--source needs a recording that the rule found something in")
			}
			_, err = io.WriteString(c.Stdout, strings.TrimRight(rule.Doc, "\n")+"\n")
			return err
		},
	}
	cmd.Flags().BoolVar(&f.source, "source", false, "show the source with what its lines cost and what escapes")
	cmd.Flags().StringVar(&f.dir, "dir", ".", "`DIRECTORY` in the module of the program's source")
	f.reading.flags(cmd)
	return cmd
}

func (c *command) rule(name string) (*diagnosis.Rule, error) {
	i := slices.IndexFunc(c.Rules, func(r *diagnosis.Rule) bool { return r.Name == strings.ToLower(name) })
	if i >= 0 {
		return c.Rules[i], nil
	}
	hint := "gowhy explain   # lists all rules"
	if s, ok := problem.Correction(name, c.ruleNames()); ok {
		hint = "gowhy explain " + s
	}
	return nil, usageError(hint, "there is no rule %q", name)
}

// explainNumber shows the finding that a diagnosis numbers so.
func (c *command) explainNumber(ctx context.Context, n int, files []string, f *explainFlags) error {
	d, m, err := c.readDiagnosis(ctx, files, f.reading, diagnosis.AnyGoal)
	if err != nil {
		return err
	}
	if n < 1 || n > len(d.Findings) {
		return usageError("gowhy "+shell.Words(files), "there is no finding %d in %s: %s", n, shell.Words(files), "it has "+figures.Plural(len(d.Findings), "finding"))
	}
	return c.explainFinding(ctx, m, n, &d.Findings[n-1], f)
}

// explainRule shows what a rule found in a recording.
func (c *command) explainRule(ctx context.Context, rule string, files []string, f *explainFlags) error {
	d, m, err := c.readDiagnosis(ctx, files, f.reading, diagnosis.AnyGoal)
	if err != nil {
		return err
	}
	n, finding := findingOf(d.Findings, rule)
	if finding == nil {
		return c.nothingToExplain(d, rule, files)
	}
	return c.explainFinding(ctx, m, n, finding, f)
}

func (c *command) explainFinding(ctx context.Context, m *model.Model, n int, finding *diagnosis.Finding, f *explainFlags) error {
	var functions []listing.Function
	if f.source {
		functions = listing.Make(ctx, m, finding.Where, listing.Options{Dir: f.dir, Compile: true})
	}
	return c.output("", func(w io.Writer, o layout.Options) error {
		return report.WriteFinding(w, n, finding, functions, o)
	})
}

// nothingToExplain answers for a rule that has no finding: that is an answer, and no
// misuse. A rule that could not look has found nothing only in name.
func (c *command) nothingToExplain(d *diagnosis.Diagnosis, rule string, files []string) error {
	next := "gowhy diagnose -v " + shell.Words(files) + "   # all that was looked at, and what could not be"
	if len(d.Findings) > 0 {
		next = "gowhy explain " + d.Findings[0].Rule + " " + shell.Words(files)
	}
	words, how := withoutFinding(d, rule, shell.Words(files))
	if how != "" {
		next = how
	}
	return c.output("", func(w io.Writer, o layout.Options) error {
		t := layout.NewText(o)
		for _, l := range layout.Lines(words, t.Width) {
			t.Line(l)
		}
		t.Line("")
		t.Line("Next: " + layout.Safe(next))
		return t.Flush(w)
	})
}

// withoutFinding says what a rule made of the evidence when it has no finding, and the
// command that would let it look at all of it.
func withoutFinding(d *diagnosis.Diagnosis, rule, files string) (words, how string) {
	var well, open []string
	for _, f := range d.Fine {
		if f.Rule == rule {
			well = append(well, f.Text)
		}
	}
	for _, u := range d.Unchecked {
		if !slices.Contains(u.Rules, rule) {
			continue
		}
		how = u.How
		if strings.HasPrefix(u.What, rule) || len(u.Rules) > 1 {
			why := u.Why
			if strings.HasPrefix(why, "needs ") {
				why = "it " + why
			}
			return fmt.Sprintf("%s did not look at %s: %s.", rule, files, why), how
		}
		open = append(open, u.What+": "+u.Why)
	}
	switch {
	case len(well) > 0 && len(open) > 0:
		words = fmt.Sprintf("%s found nothing in %s: %s. It could not tell %s.", rule, files, strings.Join(well, "; "), strings.Join(open, "; "))
	case len(well) > 0:
		words = fmt.Sprintf("%s found nothing in %s: %s.", rule, files, strings.Join(well, "; "))
	case len(open) > 0:
		words = fmt.Sprintf("%s cannot tell from %s: %s.", rule, files, strings.Join(open, "; "))
	case d.Verdict == diagnosis.Partial || d.Verdict == diagnosis.TooThin:
		words = fmt.Sprintf("%s found no sign of it in %s, which is too little to say that there is none.", rule, files)
	default:
		words = fmt.Sprintf("%s found nothing in %s.", rule, files)
	}
	return words, how
}

// findingOf returns a rule's first finding, also one that is folded under
// another, and the rank of the one that is not folded.
func findingOf(findings []diagnosis.Finding, rule string) (rank int, f *diagnosis.Finding) {
	for i := range findings {
		if findings[i].Rule == rule {
			return i + 1, &findings[i]
		}
		if _, f := findingOf(findings[i].Symptoms, rule); f != nil {
			return i + 1, f
		}
	}
	return 0, nil
}

func (c *command) ruleNames() []string {
	names := make([]string, len(c.Rules))
	for i, r := range c.Rules {
		names[i] = r.Name
	}
	slices.Sort(names)
	return names
}

func (c *command) listRules() error {
	rules := slices.Clone(c.Rules)
	slices.SortFunc(rules, func(a, b *diagnosis.Rule) int { return strings.Compare(a.Name, b.Name) })
	wide := 0
	for _, r := range rules {
		wide = max(wide, len(r.Name))
	}
	var b strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&b, "%-*s  %s\n", wide, r.Name, r.Title)
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

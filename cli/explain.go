package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/diagnosis"
)

func (c *command) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Tell what a rule sees, why it costs, the fix and its proof",
		Long:  "Prints the page of a rule, or without an argument all rules with their titles.",
		Example: `  gowhy explain
  gowhy explain oversubscribed`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misused("gowhy explain "+args[0], "explain takes one rule")
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(c.ruleNames(), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.listRules()
			}
			i := slices.IndexFunc(c.Rules, func(r *diagnosis.Rule) bool { return r.Name == strings.ToLower(args[0]) })
			if i < 0 {
				hint := "gowhy explain   # lists all rules"
				if s, ok := near(args[0], c.ruleNames()); ok {
					hint = "gowhy explain " + s
				}
				return misused(hint, "there is no rule %q", args[0])
			}
			_, err := io.WriteString(c.Stdout, strings.TrimRight(c.Rules[i].Doc, "\n")+"\n")
			return err
		},
	}
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

// closest returns the known word with the fewest edits from s.
func closest(s string, known []string) string {
	best, least := "", -1
	for _, k := range known {
		if d := distance(strings.ToLower(s), k); least < 0 || d < least {
			best, least = k, d
		}
	}
	return best
}

// near is closest for a word that is likely a slip of the pen.
func near(s string, known []string) (word string, ok bool) {
	word = closest(s, known)
	return word, word != "" && distance(strings.ToLower(s), word) <= 1+len(s)/4
}

// distance is the number of letters to insert, delete or replace, where
// letters around s are free: people abbreviate.
func distance(s, k string) int {
	if len(s) > 1 && strings.Contains(k, s) {
		return 0
	}
	row := make([]int, len(k)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(s) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(k) {
			cost := diagonal
			if s[i] != k[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(k)]
}

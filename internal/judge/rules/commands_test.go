package rules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Fixtures tell next to nothing of the program that was recorded. With its command line, its
// package and what the load asked for known, each finding has commands: testdata/commands.list
// has them by rule, and package cli reads each as gowhy would.
func TestCommandsOfKnownPrograms(t *testing.T) {
	var list []string
	for _, rule := range All {
		var printed []string
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			own := len(c.model.Run.Command) > 0 // perhaps one that nobody can run again
			known(c.model)
			d := diagnosis.Run(c.model, []*diagnosis.Rule{rule}, diagnosis.Options{Goal: c.goal})
			for _, f := range d.Findings {
				varied := f.Experiment != nil && f.Experiment.Tune != "" // by an argument of the command
				asksNames := c.model.Load != nil && c.model.Load.Names
				if len(f.Try) == 0 && !own && !varied && !asksNames {
					t.Errorf("%s, %q: no command, although all is known: %s", rule.Name, c.story, f.Missing)
				}
				printed = append(printed, f.Try...)
			}
			for _, u := range d.Unchecked {
				printed = append(printed, u.How)
			}
		}
		slices.Sort(printed)
		for _, line := range slices.Compact(printed) {
			list = append(list, rule.Name+": "+line)
		}
	}
	text, path := strings.Join(list, "\n")+"\n", filepath.Join("testdata", "commands.list")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != text {
		t.Errorf("%s differs (%v); run with -update, then read the difference", path, err)
	}
}

// known completes what a model tells of the program, as a recording of a command does.
func known(m *model.Model) {
	if len(m.Run.Command) == 0 {
		m.Run.Command = []string{"./app", "-n", "3"}
	}
	if len(m.Run.Files) == 0 {
		m.Run.Files = []string{"run.gowhy"}
	}
	if m.Build == nil {
		m.Build = &model.Build{}
	}
	if m.Build.Path == "" {
		m.Build.Path = "example.com/app/cmd/app"
	}
	if m.Load == nil && diagnosis.Serves(m) {
		m.Load = &model.Load{Tool: "gowhy", Rate: 500, Ops: 5000, Duration: m.Run.Duration}
	}
	if m.Load != nil && m.Load.URL == "" {
		m.Load.URL, m.Load.Connections = "http://localhost:8080/orders", 16
	}
}

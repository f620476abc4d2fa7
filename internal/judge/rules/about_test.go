package rules

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// TestAbout: the goldens do not show what a finding is about and what it explains,
// and these decide which others are its symptoms.
func TestAbout(t *testing.T) {
	const garbage = "allocchurn gccost tinyheap"
	for _, c := range []struct {
		rule, story      string
		explains, groups string
		stacks           int // lines of the profiles that they are
	}{
		{"hotfunction", "four fifths of the allocator", "allocchurn gccost tinyheap growingslices", "", 3},
		{"hotfunction", "half of the allocator", "", "", 2},
		{"hotfunction", "asked for CPU, five functions", "", "", 3},
		{"hotfunction", "patterns compiled for each request, three", "", "", 3},
		{"growingslices", "four fifths of the allocator", garbage, "", 2},
		{"growingslices", "half of the allocator", "", "", 2},
		{"growingslices", "seven percent of the CPU", "", "", 3},
		{"freshrand", "the garbage of the sources", garbage, "", 2},
		{"stackgrowth", "eight percent of the CPU", "", "", 3},
		{"cgocalls", "a hundred and fifty thousand", "", "", 3},
		{"connectionchurn", "a hundred and fifty a second", "syscallbound reopen goroutinechurn", "", 2},
		{"goroutinechurn", "fifteen thousand a second for sixteen", "stackgrowth", "main.feed.func1 main.push.func1 main.trim.func1", 0},
		{"packetgoroutine", "fifteen hundred a second", strings.Join(packetgoroutine.Explains, " "), "main.(*server).answer main.(*server).readUDP", 0},
		{"timerstorm", "seven thousand a second", strings.Join(timerstorm.Explains, " "), "main.poll", 2},
		{"runtimetax", "half of it is garbage", "", "", 2},
		{"spinloop", "a flag, the clock", strings.Join(spinloop.Explains, " "), "", 5},
	} {
		rule := All[slices.IndexFunc(All, func(r *diagnosis.Rule) bool { return r.Name == c.rule })]
		_, cases := readFixtures(t, filepath.Join("testdata", c.rule+".txt"))
		i := slices.IndexFunc(cases, func(f *fixture) bool { return strings.HasPrefix(f.story, c.story) })
		if i < 0 {
			t.Errorf("%s has no case %q", c.rule, c.story)
			continue
		}
		for _, f := range diagnosis.Run(cases[i].model, []*diagnosis.Rule{rule}, diagnosis.Options{Goal: cases[i].goal}).Findings {
			explains, groups := strings.Join(f.Explains, " "), strings.Join(f.Groups, " ")
			unknown := slices.ContainsFunc(f.Stacks, func(s model.Stack) bool { return len(cases[i].model.Stacks.Frames(s)) == 0 })
			if explains != c.explains || groups != c.groups || len(f.Stacks) != c.stacks || unknown {
				t.Errorf("%s, %q: explains %q, groups %q, stacks %v", c.rule, c.story, explains, groups, f.Stacks)
			}
		}
	}
}

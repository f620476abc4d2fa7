package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// Tests of two packages do not write one file over the other.
func TestPerPackage(t *testing.T) {
	for _, tt := range []struct{ out, command, want string }{
		{"", "/tmp/go-build1/b001/a.test", ""},
		{"/x/run.gowhy", "/tmp/go-build1/b001/a.test", "/x/run-a.gowhy"},
		{"/x/run", "/tmp/go-build12/b044/a.b.test", "/x/run-a.b"},
		{"run.gowhy", "/tmp/go-build1/b001/a.test", "run.gowhy"}, // in the package's folder
		{"/x/run.gowhy", "./a.test", "/x/run.gowhy"},
		{"/x/run.gowhy", "/tmp/go-build1/b001/exe/a", "/x/run.gowhy"},
	} {
		if got := perPackage(tt.out, []string{tt.command, "-test.v"}); got != tt.want {
			t.Errorf("%q of %s: %q, want %q", tt.out, tt.command, got, tt.want)
		}
	}
	if got := perPackage("/x/run.gowhy", nil); got != "/x/run.gowhy" {
		t.Errorf("without a command: %q", got)
	}
}

func TestContents(t *testing.T) {
	got := contents([]recording.Member{{Name: recording.TraceMember, Size: 5 << 20}, {Name: recording.HeapStartMember, Size: 1 << 10},
		{Name: recording.HeapEndMember, Size: 1 << 10}, {Name: recording.GoroutineStartMember, Size: 1 << 10}, {Name: recording.ProcMember, Size: 2 << 20}})
	if want := "7.00 MiB: trace (5 MiB), heap, goroutine at the start, proc (2 MiB)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What the program would have used is told only where it was measured.
func TestCostText(t *testing.T) {
	res := &record.Result{Duration: 10 * time.Second, Cost: recording.Cost{RecorderCPU: 0.2, TargetCPU: 5, TargetWall: 10}}
	if got := costText(res); got != "200 ms of CPU by gowhy, 2.0% of a core" {
		t.Errorf("%q", got)
	}
	res.Cost.TargetBefore, res.Cost.TargetBeforeWall = 0.45, 1
	if got := costText(res); !strings.Contains(got, "the program used 0.500 cores and 0.450 just before") {
		t.Errorf("%q", got)
	}
	res.Duration = time.Millisecond
	if got := costText(res); strings.Contains(got, "of a core") {
		t.Errorf("%q: what begins and ends a recording is no rate", got)
	}
}

// TestHolderLooks: a heap that grows is looked at by default, any at a mark of memory, and none where sources were chosen
// or somebody refused it; a recorder elsewhere is told what is not its default.
func TestHolderLooks(t *testing.T) {
	for _, c := range []struct {
		args []string
		want record.HolderLooks
		told string
	}{
		{nil, record.LooksIfGrows, ""},
		{[]string{"--holders"}, record.Looks, "--holders=true"},
		{[]string{"--holders=false"}, record.NoLooks, "--holders=false"},
		{[]string{"--sources", "cpu"}, record.NoLooks, ""},
		{[]string{"--sources", "cpu", "--holders"}, record.Looks, "--holders=true"},
		{[]string{"--until-memory", "90%"}, record.Looks, "--holders=true"},
		{[]string{"--until-memory", "90%", "--holders=false"}, record.NoLooks, "--holders=false"},
	} {
		f := &recordFlags{}
		cmd := &cobra.Command{}
		f.flags(cmd)
		if err := cmd.ParseFlags(append(c.args, "--pid=1")); err != nil {
			t.Fatal(err)
		}
		if err := f.check(cmd, nil); err != nil {
			t.Fatal(err)
		}
		if f.options.Holders != c.want {
			t.Errorf("%q: looks = %v, want %v", c.args, f.options.Holders, c.want)
		}
		told := slices.DeleteFunc(remoteArgs(f), func(a string) bool { return !strings.HasPrefix(a, "--holders") })
		if got := strings.Join(told, " "); got != c.told {
			t.Errorf("%q: told elsewhere %q, want %q", c.args, got, c.told)
		}
	}
}

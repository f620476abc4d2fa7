package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// unixes are the systems on which programs can be started in groups, asked to end by
// a signal, and asked afterwards what they used.
var unixes = []string{"linux", "darwin", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "illumos", "aix"}

// unavailable returns the error of a command that a system has nothing for. What was
// recorded elsewhere is read on all of them, so only what looks at a program that
// runs is refused; without this it would fail midway, or measure zeros.
func unavailable(goos string, cmd *cobra.Command, args []string) error {
	given := func(flag string) bool { return cmd.Flags().Changed(flag) }
	const read = "read here what was recorded there: gowhy FILE"
	switch name := cmd.Name(); {
	case goos == "linux", name == "record" && given("ssh"):
		return nil
	case name == "record" && given("pid"), name == "doctor" && given("pid"):
		return problem.New(problem.Absence, "record by its address, --url, or "+read,
			"looking at a process by its number needs Linux, and this is %s", goos)
	case slices.Contains(unixes, goos):
		return nil
	case name == "demo" && !given("list"):
		return problem.New(problem.Absence, "gowhy demo --list, or "+read, "the demonstration records a command, which needs Linux, and this is %s", goos)
	case name == "record" && !given("url"):
		return problem.New(problem.Absence, "record by its address, --url, or "+read, "recording a command needs Linux, and this is %s", goos)
	case name == "gate" && len(args) == 0 && !given("init"), slices.Contains([]string{"verify", "tune", "capacity", "count"}, name):
		return problem.New(problem.Absence, read, "gowhy %s measures programs, which needs Linux, and this is %s", name, goos)
	}
	return nil
}

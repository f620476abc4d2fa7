package cli

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// What looks at programs that run is refused where the system has nothing for it,
// with a way out; what reads works everywhere.
func TestUnavailable(t *testing.T) {
	for _, tt := range []struct {
		args string
		none string // the systems that cannot
	}{
		{"record --pid 1", "darwin windows"},
		{"record ./app", "windows"},
		{"record --url http://localhost:6060", ""},
		{"doctor", ""},
		{"doctor --pid 1", "darwin windows"},
		{"verify ./app", "windows"},
		{"tune ./app", "windows"},
		{"capacity ./app", "windows"},
		{"gate", "windows"},
		{"gate --init", ""},
		{"gate result.json", ""},
		{"load http://localhost:8080/", ""},
		{"compare a b", ""},
		{"view run.gowhy", ""},
		{"run.gowhy", ""},
	} {
		for _, goos := range []string{"linux", "darwin", "windows"} {
			c := &command{Options: Options{Stdout: io.Discard, Stderr: io.Discard}}
			cmd, args, err := c.root().Find(strings.Fields(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.ParseFlags(args); err != nil {
				t.Fatal(err)
			}
			err = unavailable(goos, cmd, cmd.Flags().Args())
			if refused, want := err != nil, strings.Contains(tt.none, goos); refused != want {
				t.Errorf("gowhy %s on %s: error %v, want one: %v", tt.args, goos, err, want)
			}
			var p *problem.Error
			if err != nil && (!errors.As(err, &p) || p.Hint == "" || !strings.Contains(p.What, "needs Linux, and this is "+goos)) {
				t.Errorf("gowhy %s on %s: %#v", tt.args, goos, err)
			}
		}
	}
}

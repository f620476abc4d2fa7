// Package remote reaches programs that run elsewhere: on another host by the user's own
// ssh, in a container or a pod by what docker, podman, crictl and kubectl say.
//
// It hides which of these commands are there and with which arguments they run, how gowhy comes to
// a host that has none and goes again, and how an interrupt gets there. [Host.Record]
// gives a recording as it was made there, [Container] a process of this machine, and
// [Forward] a URL that leads to a pod.
//
// remote opens no connection of its own and knows no password: the commands do and know,
// as the user has set them up.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// A Host is where ssh goes.
type Host struct {
	Name string // as for ssh: host, user@host, or an alias of its configuration
	// Program is the gowhy that is copied there, and Version what it prints of itself: a
	// gowhy that is there already and prints the same is used in its place.
	Program, Version string
	// System is what Program runs on, like linux/amd64.
	System string
}

// A place is what was found on a host.
type place struct {
	dir     string // made for us, to be removed
	system  string
	program string // that is used there
}

// prepare asks a host for a directory, what it is and which gowhy it has. The shell there
// is any that POSIX knows.
const prepare = `d=$(mktemp -d "${TMPDIR:-/tmp}/gowhy-XXXXXXXX") && chmod 700 "$d" && echo "$d" && uname -s && uname -m && { gowhy --version 2>/dev/null || echo none; }`

// Record records on the host, with the arguments of gowhy record that say what, and
// writes the recording to w. When ctx is cancelled, the recording ends there and what
// there is of it is written. What ssh and the recorder there print is in the error.
func (h *Host) Record(ctx context.Context, args []string, w io.Writer) error {
	if strings.HasPrefix(h.Name, "-") || h.Name == "" {
		return problem.New(problem.Misuse, "--ssh user@host", "%q is no host", h.Name)
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		return problem.New(problem.Absence, "install an OpenSSH client", "there is no ssh on this machine")
	}
	p, err := h.prepare(ctx)
	if err != nil {
		return err
	}
	if p.program != "gowhy" {
		if err := h.copy(ctx, p); err != nil {
			h.remove(p)
			return err
		}
	}
	return h.run(ctx, p, args, w)
}

// prepare finds out what the host is.
func (h *Host) prepare(ctx context.Context) (*place, error) {
	out, err := h.ask(ctx, prepare, nil)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 4 || !strings.HasPrefix(lines[0], "/") || !strings.HasPrefix(path.Base(lines[0]), "gowhy-") { // this will be removed
		return nil, problem.New(problem.Failure, "ssh "+shell.Word(h.Name)+" true   # has to print nothing",
			"%s does not answer as a shell does: %.200q", h.Name, string(out))
	}
	p := &place{dir: lines[0], system: system(lines[1], lines[2])}
	switch theirs := lines[3]; {
	case theirs == strings.TrimSpace(h.Version) && !strings.Contains(theirs, "(devel)"):
		p.program = "gowhy"
	case p.system == h.System:
		p.program = p.dir + "/gowhy"
	default:
		h.remove(p)
		return nil, problem.New(problem.Absence, "install the same version of gowhy there: "+strings.TrimSpace(h.Version),
			"%s is %s, where this gowhy, of %s, does not run, and its own is %s", h.Name, p.system, h.System, theirs)
	}
	return p, nil
}

// system writes what uname prints as Go does.
func system(kernel, machine string) string {
	if as, ok := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "i686": "386", "armv7l": "arm"}[machine]; ok {
		machine = as
	}
	return strings.ToLower(kernel) + "/" + machine
}

// copy brings the program there.
func (h *Host) copy(ctx context.Context, p *place) error {
	f, err := os.Open(h.Program)
	if err != nil {
		return err
	}
	defer f.Close()
	to := shell.Word(p.program)
	_, err = h.ask(ctx, "cat > "+to+" && chmod 700 "+to, f)
	return err
}

// remove takes away what was made there, also after an interrupt.
func (h *Host) remove(p *place) {
	_, _ = h.ask(context.Background(), "rm -rf "+shell.Word(p.dir), nil) // ssh has said why before
}

// The recorder runs behind a shell that ends it when standard input ends: by us at an
// interrupt, or by the connection when it breaks. SIGTERM, because a shell without job
// control has what it puts behind ignore SIGINT. The directory goes whatever happens.
const recorder = `d=%s; trap 'rm -rf "$d"' EXIT; trap 'exit 1' HUP TERM; exec 3<&0
%s record --no-diagnose -o "$d/run.gowhy" %s </dev/null >&2 3<&- & p=$!
{ cat <&3; kill -TERM $p; } >/dev/null 2>&1 & w=$!
wait $p; r=$?; kill $w 2>/dev/null
[ -s "$d/run.gowhy" ] && cat "$d/run.gowhy"
exit $r`

// run records and streams the recording back.
func (h *Host) run(ctx context.Context, p *place, args []string, w io.Writer) error {
	stdin, end, err := os.Pipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	defer end.Close()
	written := &counter{w: w}
	script := fmt.Sprintf(recorder, shell.Word(p.dir), shell.Word(p.program), shell.Words(args))
	cmd := h.command(context.Background(), script)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, written, &beginning{b: &stderr}
	stop := context.AfterFunc(ctx, func() { end.Close() })
	defer stop()
	err = cmd.Run()
	if written.n > 0 && !unreachable(err) {
		return nil // its exit code says how the program ended, or that we interrupted
	}
	if err == nil {
		err = errors.New("there is no recording")
	}
	h.remove(p)
	return h.failed(err, stderr.String())
}

// ask runs a script on the host and returns what it prints.
func (h *Host) ask(ctx context.Context, script string, stdin io.Reader) ([]byte, error) {
	cmd := h.command(ctx, script)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &beginning{b: &stdout}, &beginning{b: &stderr}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, h.failed(err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// command is ssh with a script for the host. It is in a process group of its own: an
// interrupt at the terminal is for us, who pass it on, and not for the connection.
func (h *Host) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "ssh", "-T", "--", h.Name, "exec sh -c "+shell.Word(script))
	cmd.SysProcAttr = ownGroup()
	return cmd
}

// unreachable reports whether ssh itself failed, or was killed.
func unreachable(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && (exit.ExitCode() == 255 || exit.ExitCode() < 0)
}

// failed returns the error of ssh, or that with its hint which gowhy there printed last: before
// it stands what it was doing.
func (h *Host) failed(err error, stderr string) error {
	what := "\n" + strings.TrimSpace(stderr)
	if unreachable(err) {
		what = what[strings.LastIndexByte(what, '\n')+1:]
		if what == "" || strings.HasPrefix(what, "gowhy: ") {
			what = "the connection broke"
		}
		return problem.New(problem.Failure, "ssh "+shell.Word(h.Name)+" true   # has to work", "ssh %s: %s", h.Name, what)
	}
	if i := strings.LastIndex(what, "\ngowhy: "); i >= 0 {
		what = what[i+len("\ngowhy: "):]
	}
	what, hint, _ := strings.Cut(what, "\nhint: ")
	if what = strings.Join(strings.Fields(what), " "); what == "" {
		what = err.Error()
	}
	return problem.New(problem.Failure, strings.TrimSpace(hint), "on %s: %s", h.Name, what)
}

// A counter counts what was written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// maxSaid is how much is kept of what a command prints: a few messages.
const maxSaid = 64 << 10

// A beginning keeps the beginning of what is written.
type beginning struct{ b *bytes.Buffer }

func (t *beginning) Write(b []byte) (int, error) {
	t.b.Write(b[:max(0, min(len(b), maxSaid-t.b.Len()))])
	return len(b), nil
}

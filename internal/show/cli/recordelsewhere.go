package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/sense/remote"
)

// remoteFlags are the flags of record for programs that are not simply here.
type remoteFlags struct{ ssh, container, pod string }

// checkSSH refuses what makes no sense on another host.
func (f *recordFlags) checkSSH(args []string) error {
	switch {
	case f.ssh == "":
		return nil
	case len(args) > 0 || f.finish != "":
		return usageError("--ssh HOST --pid PID   or   --ssh HOST --url URL", "--ssh records what runs there already")
	case f.options.Load != "" && !strings.HasPrefix(f.options.Load, "http"):
		return usageError("give the file with the recording: gowhy run.gowhy "+f.options.Load, "--load reads a file there, not here")
	}
	return nil
}

// resolve turns a container or a pod into a process of this machine or a URL. done ends
// what leads there.
func (c *command) resolve(ctx context.Context, f *recordFlags) (t record.Target, done func(), err error) {
	t, done = f.target, func() {}
	say := func(format string, args ...any) {
		fmt.Fprintf(c.Stderr, "gowhy: %s\n", layout.Safe(fmt.Sprintf(format, args...)))
	}
	switch {
	case f.container != "":
		if t.PID, err = remote.Container(ctx, f.container); err != nil {
			return t, done, err
		}
		t.PID, err = processHere(t.PID, "container "+f.container)
	case f.pod != "":
		var p remote.Pod
		if p, err = remote.ParsePod(f.pod); err != nil {
			return t, done, err
		}
		if pid := p.Process(ctx); pid > 0 {
			if t.PID, err = processHere(pid, "pod "+f.pod); err == nil {
				say("pod %s is process %d here", f.pod, t.PID)
				return t, done, nil
			}
		}
		if t.URL, done, err = p.Forward(ctx); err == nil {
			say("pod %s is at %s, by kubectl port-forward", f.pod, t.URL)
		}
		return t, done, err
	}
	if err == nil && f.container != "" {
		say("container %s is process %d", f.container, t.PID)
	}
	return t, done, err
}

// processHere returns the Go program that is the first process of a container, or that it
// started, as a shell does. An engine may be that of another machine.
func processHere(pid int, of string) (int, error) {
	if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
		return 0, problem.New(problem.Absence, "gowhy record --ssh HOST --pid "+strconv.Itoa(pid)+", on the machine that runs it",
			"%s is process %d of another machine: here is none of this number", of, pid)
	}
	return cmp.Or(record.GoProgram(pid), pid), nil
}

// recordOver records on another host by ssh.
func (c *command) recordOver(ctx context.Context, f *recordFlags) error {
	o := &f.options
	o.Out = cmp.Or(o.Out, elsewhereName(f))
	if err := checkOutput(o.Out); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	h := remote.Host{Name: f.ssh, Program: self, Version: versionLine(), System: runtime.GOOS + "/" + runtime.GOARCH}
	line := c.statusLine()
	line.Step("recording on %s…", f.ssh)
	defer line.Clear()
	err = c.output(o.Out, func(w io.Writer, _ layout.Options) error {
		b := bufio.NewWriter(w)
		if err := h.Record(ctx, remoteArgs(f), b); err != nil {
			return err
		}
		return b.Flush()
	})
	line.Clear()
	if err != nil {
		return err
	}
	res, err := resultOf(o.Out)
	if err != nil {
		return err
	}
	return c.reportRecording(ctx, f, o.Out, res, nil)
}

// remoteArgs returns the arguments of the recorder there.
func remoteArgs(f *recordFlags) (args []string) {
	add := func(flag, value string) {
		if value != "" {
			args = append(args, "--"+flag+"="+value)
		}
	}
	o := &f.options
	if o.Duration > 0 {
		add("duration", o.Duration.String())
	}
	add("until-memory", f.until)
	add("url", f.target.URL)
	if f.target.PID > 0 {
		add("pid", strconv.Itoa(f.target.PID))
	}
	add("container", f.container)
	add("pod", f.pod)
	add("sources", strings.Join(o.Only, ","))
	add("without", strings.Join(o.Without, ","))
	add("load", o.Load)
	add("trace-limit", f.limit)
	if o.Redact {
		add("redact", "true")
	}
	if o.Holders != f.holderLooks(false) || f.until != "" {
		add("holders", strconv.FormatBool(o.Holders == record.Looks))
	}
	return args
}

// notInNames is what a file's name is better without.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// elsewhereName returns a name for a recording of another host.
func elsewhereName(f *recordFlags) string {
	name := strings.Trim(notInNames.ReplaceAllString(path.Base(f.ssh), "-"), "-.")
	return cmp.Or(name, "host") + time.Now().Format("-20060102-150405") + ".gowhy"
}

// resultOf returns what a recording says of itself that was made elsewhere.
func resultOf(file string) (*record.Result, error) {
	r, err := recording.Open(file)
	if err != nil {
		return nil, problem.New(problem.Failure, "gowhy "+file, "what came is no recording: %v", err)
	}
	defer r.Close()
	res := &record.Result{Written: true, Members: r.Members}
	if m := r.Manifest; m != nil {
		res.Duration = m.End.Sub(m.Start)
		for _, x := range m.Refused {
			res.Refused = append(res.Refused, artifact.Refusal{Member: x.Member, Why: x.Why})
		}
		if m.Cost != nil {
			res.Cost = *m.Cost
		}
	}
	return res, nil
}

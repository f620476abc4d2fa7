package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// redact leaves out of the recording what people write: command line, working
// directory, environment, output, log lines of the trace, labels of profiles. Names of
// functions, files and threads stay, and all numbers: so do the times of the
// kernel's samples, which are nothing else.
func (r *recorder) redact() {
	r.man.Redacted = true
	r.man.Command, r.man.Fixed, r.man.Dir, r.man.Env = nil, nil, "", nil
	for _, m := range []string{recording.StdoutMember, recording.StderrMember} {
		os.Remove(r.w.Path(m))
	}
	for _, member := range artifact.Members {
		m := member.Name
		if !strings.HasSuffix(m, ".pb.gz") || !r.has(m) || m == recording.KernelMember || m == recording.OffCPUMember || m == recording.HeapCourseMember {
			continue // those three have labels of ours only
		}
		if err := withoutLabels(r.w.Path(m)); err != nil {
			os.Remove(r.w.Path(m))
			r.refuse(m, artifact.Refusal{Why: fmt.Sprintf("its labels could not be taken out: %v", err)})
		}
	}
	r.redactBuild()
	r.redactTrace()
}

// maxProfile bounds a profile, unpacked.
const maxProfile = 256 << 20

func withoutLabels(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	p, err := profile.Parse(io.LimitReader(f, maxProfile))
	f.Close()
	if err != nil {
		return err
	}
	for _, s := range p.Sample {
		s.Label, s.NumLabel, s.NumUnit = nil, nil, nil
	}
	p.Comments = nil
	// Written anew beside it: half a profile is none.
	tmp := path + ".tmp"
	to, err := os.Create(tmp)
	if err != nil {
		return err
	}
	if err := errors.Join(p.Write(to), to.Close()); err != nil {
		os.Remove(tmp)
		return err
	}
	return os.Rename(tmp, path)
}

// redactBuild leaves out the command line of the build, in which -X may set
// anything.
func (r *recorder) redactBuild() {
	path := r.w.Path(recording.BuildMember)
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "\t-ldflags=") && !strings.Contains(line, "\tCGO_") && !strings.Contains(line, "\t-asmflags=") {
			kept.WriteString(line)
		}
	}
	if err := os.WriteFile(path, []byte(kept.String()), 0o600); err != nil {
		os.Remove(path)
	}
}

// redactTrace leaves a trace out that has log lines: in its binary form they
// cannot be taken out.
func (r *recorder) redactTrace() {
	if !r.has(recording.TraceMember) {
		return
	}
	logs, err := hasLogs(r.w.Path(recording.TraceMember))
	switch {
	case err != nil:
		r.refuse(recording.TraceMember, artifact.Refusal{Why: fmt.Sprintf("left out: gowhy could not tell whether it has log lines: %v", err), How: "record without --redact"})
	case logs:
		r.refuse(recording.TraceMember, artifact.Refusal{Why: "left out: the program writes log lines into it (trace.Log), which cannot be taken out", How: "record without --redact"})
	default:
		return
	}
	os.Remove(r.w.Path(recording.TraceMember))
}

// hasLogs reports whether a trace has a user log. It reads it event by event,
// at some seconds a gigabyte.
func hasLogs(path string) (bool, error) {
	t, err := exectrace.Open(filepath.Clean(path))
	if err != nil {
		return false, err
	}
	defer t.Close()
	for e, err := range t.Events(exectrace.EventOptions{}) {
		if err != nil {
			return false, err
		}
		if e.Kind == exectrace.EventLog {
			return true, nil
		}
	}
	return false, nil
}

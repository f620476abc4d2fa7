package evidence

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What tools for support write holds a cluster: directories and archives with a
// directory for each node or moment. A diagnosis is of one program, so the profiles of
// several are refused together, and a part of an archive can be named, as in
// debug.tar.gz:nodes/1, where a part of a directory is a path.

// Limits on what is inside other things.
const (
	maxInside = 4 // archives in archives, directories in directories
	maxOthers = 8 // runs that are named where there are several
)

// splitMember cuts a path like debug.zip:nodes/1 behind the archive, which exists.
func splitMember(p string) (archive, member string, ok bool) {
	for i, c := range p {
		if c != ':' || i == len(p)-1 {
			continue
		}
		if info, err := os.Stat(p[:i]); err == nil && info.Mode().IsRegular() {
			return p[:i], p[i+1:], true
		}
	}
	return "", "", false
}

// part reads a file or directory of an archive.
func (l *loader) part(archive, member string) error {
	before := l.uses
	l.arg, l.only = archive, path.Clean(member)
	defer func() { l.only = "" }()
	if err := l.file(archive, ""); err != nil {
		return err
	}
	if l.uses == before && len(l.skipped) == 0 {
		return problem.New(problem.Absence, "gowhy "+shell.Word(archive), "%q holds nothing called %q", archive, member)
	}
	return nil
}

// wantsMember reports whether a member of an archive is in the part that was asked for.
func (l *loader) wantsMember(member string) bool {
	name := path.Clean(member)
	return l.only == "" || l.containers > 1 || name == l.only || strings.HasPrefix(name, l.only+"/")
}

// tar reads the files in a tar archive, which comes as a stream.
func (l *loader) tar(s source) error {
	if l.containers >= maxInside {
		return l.pass(problem.New(problem.Failure, "unpack it, then gowhy DIRECTORY", "%q is an archive inside of archives", s.name))
	}
	if s.at != nil {
		s.r = io.NewSectionReader(s.at, 0, s.size)
	}
	before := l.uses
	l.containers++
	defer func() { l.containers-- }()
	t := tar.NewReader(ctxReader{l.ctx, s.r})
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case err == io.EOF:
		case l.ctx.Err() != nil:
			return l.ctx.Err()
		case errors.Is(err, tar.ErrInsecurePath): // nothing is written anywhere
			err = nil
		case err != nil && l.uses == before:
			return l.pass(cutProblem(s.name, err))
		case err != nil:
			l.note("%s is cut short or damaged: %v; what could be unpacked was read", s.name, err)
		case n == maxDirs:
			l.note("%s has more than %d members; the rest was left out", s.name, maxDirs)
			err = io.EOF
		}
		if err != nil {
			break
		}
		if h.Typeflag != tar.TypeReg || !l.wantsMember(h.Name) {
			continue
		}
		if err := l.collect(l.source(source{name: s.name + ":" + path.Clean(h.Name), r: &cutReader{r: t}})); err != nil {
			return err
		}
	}
	if err := l.severalRuns(); err != nil {
		return err
	}
	if l.uses == before && l.containers == 1 && l.only == "" && l.onlyTrace == nil {
		return l.emptyError(problem.New(problem.Absence, recordHelp, "%q holds no trace and no profile", s.name))
	}
	return nil
}

// An otherRun is evidence of another run than what was read before it.
type otherRun struct{ first, other string }

func (o *otherRun) Error() string { return "evidence of another run" }

// sameRun refuses evidence from another directory of a container than what there is of
// its source: containers of support tools have one for each node or moment.
func (l *loader) sameRun(s model.Source, name string) error {
	before, ok := l.from[s]
	if !ok {
		return nil
	}
	first, other := l.runOf(before), l.runOf(name)
	if first == "" || other == "" || first == other {
		return nil
	}
	return &otherRun{first, other}
}

// runOf names the directory, in the container that is read, of what is read there; ""
// outside of containers and for recordings, which say themselves what they are.
func (l *loader) runOf(name string) string {
	if containerOf(name) != "" {
		return ""
	}
	if in, ok := strings.CutPrefix(name, l.arg+":"); ok {
		return l.arg + ":" + path.Dir(in)
	}
	dir := filepath.Clean(l.arg)
	if in, ok := strings.CutPrefix(name, dir+string(filepath.Separator)); ok {
		in, _, _ = strings.Cut(in, ":") // an archive in it
		return filepath.Join(dir, filepath.Dir(in))
	}
	return ""
}

// collect keeps what says that there are several runs in a container, so that all can
// be named when it was read; it returns any other error.
func (l *loader) collect(err error) error {
	var o *otherRun
	if !errors.As(err, &o) {
		return err
	}
	for _, name := range []string{o.first, o.other} {
		if !slices.Contains(l.runs, name) {
			l.runs = append(l.runs, name)
		}
	}
	return nil
}

// severalRuns says, of the outermost container, which runs there are and how to read
// one of them.
func (l *loader) severalRuns() error {
	if len(l.runs) == 0 || l.containers > 1 {
		return nil
	}
	slices.Sort(l.runs)
	var words, paths []string
	for _, n := range l.runs[:min(len(l.runs), maxOthers)] {
		in := strings.TrimLeft(strings.TrimPrefix(n, filepath.Clean(l.arg)), ":"+string(filepath.Separator))
		words = append(words, fmt.Sprintf("%q", cmp.Or(in, n)))
		paths = append(paths, shell.Word(n))
	}
	if more := len(l.runs) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d more", more))
	}
	last := len(words) - 1
	return problem.New(problem.Misuse, "gowhy "+paths[0]+"   # or: "+strings.Join(paths[1:], ", "),
		"%q has the same kind of evidence in %s and %s; a diagnosis is of one run", l.arg, strings.Join(words[:last], ", "), words[last])
}

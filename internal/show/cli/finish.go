package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// finish packs the recording that a recorder left behind that was killed.
func (c *command) finish(dir, out string) error {
	if inUse(dir) {
		return problem.New(problem.Failure, "wait for it, or end it with an interrupt", "%q is being recorded", dir)
	}
	w, m, err := recording.Resume(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem.New(problem.Absence, "gowhy list   # shows those that can be finished", "%q is no recording that was left behind: %v", dir, problem.Cause(err))
	case err != nil:
		return problem.New(problem.Absence, "gowhy "+shell.Word(dir)+"   # reads what is there", "%q cannot be finished: %v", dir, err)
	}
	if out == "" {
		out = w.Target()
	}
	if _, err := os.Lstat(out); err == nil {
		return problem.New(problem.Misuse, "gowhy record --finish "+shell.Word(dir)+" -o other.gowhy", "%q is there already", out)
	}
	if err := w.FinishAt(out, m); err != nil {
		return problem.New(problem.Failure, "gowhy "+shell.Word(dir)+"   # reads what is there", "cannot write the recording: %v", err)
	}
	fmt.Fprintf(c.Stderr, "gowhy: finished %s: %s until its recorder ended; next:   gowhy %s\n", layout.Safe(shell.Word(out)), figures.Duration(m.End.Sub(m.Start)), layout.Safe(shell.Word(out)))
	return nil
}

// offerUnfinished says which recordings of a directory nobody finishes any more.
func (c *command) offerUnfinished(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "*"+recording.Unfinished+"*"))
	for _, path := range left {
		w, m, err := recording.Resume(path)
		if err != nil || inUse(path) {
			continue
		}
		age := time.Since(m.End).Round(time.Second)
		c.complain(fmt.Sprintf("%s is a recording of %s that nobody finished, %s ago", filepath.Base(w.Target()), figures.Duration(m.End.Sub(m.Start)), figures.Duration(age)),
			"gowhy record --finish "+shell.Word(path))
	}
}

const (
	// killedFor is for how long somebody may ask why a program was killed.
	killedFor = 7 * 24 * time.Hour
	// mostRecordings is how many of a directory are looked into, the newest first.
	mostRecordings = 200
)

// offerKilled says which recordings of a directory are of programs that were killed for
// want of memory.
func (c *command) offerKilled(dir string) {
	type file struct {
		path string
		time time.Time
	}
	var files []file
	paths, _ := filepath.Glob(filepath.Join(dir, "*.gowhy"))
	for _, path := range paths {
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) < killedFor {
			files = append(files, file{path, info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.time.Compare(a.time) })
	for _, f := range files[:min(len(files), mostRecordings)] {
		rec, err := recording.Open(f.path)
		if err != nil {
			continue
		}
		if man := rec.Manifest; man != nil && man.Ended != nil && man.Ended.Kind == recording.EndedByMemory {
			text := filepath.Base(f.path) + ": the program " + artifact.EndingWords(man.Ended, time.Local)
			if age := artifact.EvidenceAge(man); age != "" {
				text += "; " + age
			}
			c.complain(text, "gowhy "+shell.Word(f.path))
		}
		rec.Close()
	}
}

// inUse reports whether a process of this machine has a file of a directory open.
func inUse(dir string) bool {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, abs+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

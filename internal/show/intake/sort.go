package intake

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/read/loadresult"
	"github.com/gowhy/gowhy/internal/show/web"
)

// Sort tells what files are, by their content.
func Sort(files []string) (web.Found, error) {
	var found web.Found
	var loose, traces []string
	loads := 0 // of the loose ones
	for _, f := range Unfold(files) {
		begin, err := Head(f)
		if err != nil {
			return found, err
		}
		switch kind := Kind(begin); {
		case kind != "":
			r, err := readResult(f, kind)
			if err != nil {
				return found, err
			}
			found.Results = append(found.Results, *r)
		case isRecording(f, begin):
			found.Runs = append(found.Runs, web.RunFiles{Name: filepath.Base(filepath.Clean(f)), Files: []string{f}})
		case bytes.HasPrefix(begin, []byte("go 1.")):
			traces = append(traces, f)
		default:
			loose = append(loose, f)
			if loadresult.Detect(begin) {
				loads++
			}
		}
	}
	// What was offered to the only run that there is belongs to it.
	if len(found.Runs) == 1 && len(traces) == 0 && loads == len(loose) {
		found.Runs[0].Files = append(found.Runs[0].Files, loose...)
		loose = nil
	}
	// Several traces are several runs. To which of them profiles belong nobody
	// can tell, so they are one of their own then.
	if len(traces) == 1 {
		loose, traces = append(traces, loose...), nil
	}
	for _, t := range traces {
		found.Runs = append(found.Runs, web.RunFiles{Name: filepath.Base(t), Files: []string{t}})
	}
	if len(loose) > 0 {
		found.Runs = append(found.Runs, web.RunFiles{Name: looseName(loose), Files: loose})
	}
	tellApart(found.Runs)
	return found, nil
}

// Head returns the beginning of a file, nothing of a directory or a stream.
func Head(path string) ([]byte, error) {
	if path == "-" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, evidence.OpenError(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, err // a pipe can be read only once
	}
	begin := make([]byte, 512)
	n, _ := io.ReadFull(f, begin) // reading it reports what is wrong with it
	return begin[:n], nil
}

// isRecording reports whether a file holds a run whole: a recording or another
// archive, or a directory.
func isRecording(path string, head []byte) bool {
	if bytes.HasPrefix(head, []byte("PK")) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsRecording reports whether a file is one that gowhy recorded, and no other archive
// or directory.
func IsRecording(path string) bool {
	head, err := Head(path)
	if err != nil || !bytes.HasPrefix(head, []byte("PK")) {
		return false
	}
	r, err := recording.Open(path)
	if err != nil {
		return false
	}
	defer r.Close()
	return r.Manifest != nil
}

// Unfold puts the recordings in a directory in its place, where it holds several: each is
// of a run of its own. Whatever else lies there belongs to none of them.
func Unfold(files []string) (out []string) {
	for _, f := range files {
		var inside []string
		entries, _ := os.ReadDir(f) // whoever reads it says what is wrong with it
		for _, e := range entries {
			if p := filepath.Join(f, e.Name()); e.Type().IsRegular() && IsRecording(p) {
				inside = append(inside, p)
			}
		}
		if len(inside) > 1 {
			out = append(out, inside...)
		} else {
			out = append(out, f)
		}
	}
	return out
}

// looseName names several files together.
func looseName(files []string) string {
	bases := make([]string, len(files))
	for i, f := range files {
		bases[i] = filepath.Base(f)
		if f == "-" {
			bases[i] = "standard input"
		}
	}
	if len(bases) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(bases[:2], " + "), len(bases)-2)
	}
	return strings.Join(bases, " + ")
}

// tellApart names runs by their paths where bare names are the same.
func tellApart(runs []web.RunFiles) {
	count := map[string]int{}
	for _, r := range runs {
		count[r.Name]++
	}
	for i, r := range runs {
		if count[r.Name] > 1 && len(r.Files) == 1 {
			runs[i].Name = filepath.ToSlash(filepath.Clean(r.Files[0]))
		}
	}
}

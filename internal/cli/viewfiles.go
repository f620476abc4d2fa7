package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/compare"
	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/evidence"
	"github.com/gowhy/gowhy/internal/experiment"
	"github.com/gowhy/gowhy/internal/export"
	"github.com/gowhy/gowhy/internal/layout"
	"github.com/gowhy/gowhy/internal/loadresult"
	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/timeline"
	"github.com/gowhy/gowhy/internal/web"
)

// viewReading are the flags that say how evidence becomes a page.
type viewReading struct {
	goal    string
	workers int
}

func (o *viewReading) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.goal, "goal", "", "what to improve, a `GOAL`: "+strings.Join(goals, ", "))
	cmd.Flags().IntVar(&o.workers, "workers", 0, "`CORES` used for reading (default all)")
	complete(cmd, "goal", goals)
}

func (o *viewReading) check() error {
	if o.workers < 0 {
		return misused("--workers 2", "--workers %d is negative", o.workers)
	}
	return oneOf("goal", o.goal, goals)
}

// newServer joins the page with what reads for it.
func (c *command) newServer(o *viewReading) (*web.Server, error) {
	return web.New(web.Options{
		Version: version(),
		Sort:    c.sortFiles,
		Open: func(ctx context.Context, s web.Source, progress func(read, size int64)) (*web.View, error) {
			return c.openRun(ctx, s, o, progress)
		},
		Tools: viewers(),
		Log:   func(format string, args ...any) { c.complain(fmt.Sprintf(format, args...), "") },
	})
}

// keptGoroutines is how many goroutines of each group a page can list. Ten times as
// many make reading a trace of many short goroutines slower by a tenth.
const keptGoroutines = 200

// openRun reads the evidence of one run. Of several files that were given
// together, those that cannot be read are left out, which the run and the terminal
// say. What was dropped on the page is whole or not at all: its sender is told.
func (c *command) openRun(ctx context.Context, s web.Source, o *viewReading, progress func(read, size int64)) (*web.View, error) {
	v, err := c.readRun(ctx, s, nil, o, progress)
	if err == nil || s.Dropped || len(s.Files) < 2 || ctx.Err() != nil {
		return v, err
	}
	good, faults := c.readable(ctx, s.Files, o)
	if len(good) == 0 || len(faults) == 0 {
		return nil, err
	}
	var notes []string
	for _, f := range faults {
		notes = append(notes, "not read: "+f.Error())
	}
	s.Files = good
	if v, err = c.readRun(ctx, s, notes, o, progress); err != nil {
		return nil, err
	}
	for _, f := range faults {
		c.code(f)
	}
	return v, nil
}

// readable tells which files can be read by themselves, and why the others cannot.
func (c *command) readable(ctx context.Context, files []string, o *viewReading) (good []string, faults []error) {
	for _, f := range files {
		if f == "-" { // which is read by now
			return nil, nil
		}
		head, err := headOf(f)
		if err == nil && !bytes.HasPrefix(head, []byte("go 1.")) { // a trace has its faults inside
			_, err = evidence.Load(ctx, []string{f}, evidence.Options{Workers: o.workers})
		}
		if err != nil {
			faults = append(faults, err)
		} else {
			good = append(good, f)
		}
	}
	return good, faults
}

// readRun reads the accounts and the timeline in one pass over the trace, which
// stays open for what is looked at closely. It is never closed again: answers may
// be reading it until the process ends.
func (c *command) readRun(ctx context.Context, s web.Source, notes []string, o *viewReading, progress func(read, size int64)) (*web.View, error) {
	var builder timeline.Builder
	var trace *exectrace.Trace
	var release func() error
	m, err := evidence.Load(ctx, s.Files, evidence.Options{
		Keep: keptGoroutines, Workers: o.workers, Progress: progress, Stdin: c.Stdin,
		Trace: func(t *exectrace.Trace, done func() error) func(*exectrace.Piece) {
			trace, release = t, done
			return builder.Add
		},
	})
	if err != nil {
		if release != nil {
			_ = release() // the error that matters is the first
		}
		return nil, err
	}
	if s.Dropped {
		baseNames(s.Files, m)
	}
	m.Run.Coverage.Notes = append(m.Run.Coverage.Notes, notes...)
	m = m.Frozen()
	v := &web.View{
		Name:      s.Name,
		Model:     m,
		Diagnosis: diagnosis.Run(m, c.Rules, diagnosis.Options{Goal: diagnosis.Goal(o.goal)}),
		Tools:     otherTools(),
	}
	v.Members, v.Fetch = members(s.Files)
	if trace != nil {
		v.Timeline = builder.Timeline(trace, m)
		if !slices.Contains(s.Files, "-") {
			v.Slices = slicesOf(s.Files)
		}
	}
	return v, nil
}

// baseNames leaves of the names of files what their sender called them: where
// dropped files lie is the server's affair.
func baseNames(files []string, m *model.Model) {
	var pairs []string
	for _, f := range files {
		pairs = append(pairs, filepath.Dir(f)+string(filepath.Separator), "")
	}
	names := strings.NewReplacer(pairs...)
	for i, f := range m.Run.Files {
		m.Run.Files[i] = filepath.Base(f)
	}
	m.Run.Recording = names.Replace(m.Run.Recording)
	for i, n := range m.Run.Coverage.Notes {
		m.Run.Coverage.Notes[i] = names.Replace(n)
	}
}

// slicesOf are the single runs of a trace, which is read again for them.
func slicesOf(files []string) func(yield func(export.Slice) bool) {
	return func(yield func(export.Slice) bool) {
		r := &runSlices{ctx: context.Background(), files: files}
		r.all(yield)
		if r.err != nil {
			panic(r.err) // a sequence has no other way to say that this is not all
		}
	}
}

// sortFiles tells what files are, by their content.
func (c *command) sortFiles(files []string) (web.Found, error) {
	var found web.Found
	var loose, traces []string
	loads := 0 // of the loose ones
	for _, f := range files {
		head, err := headOf(f)
		if err != nil {
			return found, err
		}
		switch kind := savedKind(head); {
		case kind != "":
			r, err := readResult(f, kind)
			if err != nil {
				return found, err
			}
			found.Results = append(found.Results, *r)
		case isRecording(f, head):
			found.Runs = append(found.Runs, web.Source{Name: filepath.Base(filepath.Clean(f)), Files: []string{f}})
		case bytes.HasPrefix(head, []byte("go 1.")):
			traces = append(traces, f)
		default:
			loose = append(loose, f)
			if loadresult.Detect(head) {
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
		found.Runs = append(found.Runs, web.Source{Name: filepath.Base(t), Files: []string{t}})
	}
	if len(loose) > 0 {
		found.Runs = append(found.Runs, web.Source{Name: looseName(loose), Files: loose})
	}
	tellApart(found.Runs)
	return found, nil
}

// headOf is the beginning of a file, nothing of a directory or a stream.
func headOf(path string) ([]byte, error) {
	if path == "-" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unopened(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, err // a pipe can be read only once
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head) // what is wrong with it is told when it is read
	return head[:n], nil
}

func unopened(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return problem.New(problem.Absence, "gowhy record -o run.gowhy -- CMD   # or: gowhy demo", "no such file: %q", path)
	}
	return problem.New(problem.Failure, "", "cannot read %q: %v", path, cause(err))
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

// looseName is what files are called together.
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
func tellApart(runs []web.Source) {
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

// members are the files of a run, and how to get one of them as it is.
func members(files []string) ([]web.Member, func(string) (io.ReadCloser, error)) {
	var list []web.Member
	at := map[string]func() (io.ReadCloser, error){}
	add := func(n string, size int64, open func() (io.ReadCloser, error)) {
		if _, twice := at[n]; !twice {
			list = append(list, web.Member{Name: n, Bytes: size})
			at[n] = open
		}
	}
	for _, f := range files {
		addMembers(f, len(files) == 1, add)
	}
	return list, func(n string) (io.ReadCloser, error) {
		open, ok := at[n]
		if !ok {
			return nil, os.ErrNotExist
		}
		return open()
	}
}

// addMembers adds what a path holds: the members of a recording, the files of a
// directory, or itself.
func addMembers(path string, alone bool, add func(string, int64, func() (io.ReadCloser, error))) {
	info, err := os.Stat(path)
	if err != nil {
		return // it was read, and is gone since
	}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return
		}
		for _, e := range entries {
			full := filepath.Join(path, e.Name())
			if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() {
				add(e.Name(), info.Size(), func() (io.ReadCloser, error) { return os.Open(full) })
			}
		}
		return
	}
	if !info.Mode().IsRegular() {
		return
	}
	if rec, err := recording.Open(path); err == nil {
		defer rec.Close()
		for _, m := range rec.Members {
			n := m.Name
			if !alone {
				n = filepath.Base(path) + ":" + n
			}
			add(n, m.Size, func() (io.ReadCloser, error) { return openMember(path, m.Name) })
		}
		return
	}
	add(filepath.Base(path), info.Size(), func() (io.ReadCloser, error) { return os.Open(path) })
}

// openMember opens a member of a recording, and with it the recording.
func openMember(path, name string) (io.ReadCloser, error) {
	rec, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	for _, m := range rec.Members {
		if m.Name != name {
			continue
		}
		r, err := m.Open()
		if err != nil {
			rec.Close()
			return nil, err
		}
		return memberReader{r, rec}, nil
	}
	rec.Close()
	return nil, os.ErrNotExist
}

type memberReader struct {
	io.ReadCloser
	in io.Closer
}

func (m memberReader) Close() error { return errors.Join(m.ReadCloser.Close(), m.in.Close()) }

// savedKind is the kind of a result that was saved as JSON, empty for any other
// file. All of them say it first.
func savedKind(head []byte) string {
	d := json.NewDecoder(bytes.NewReader(head))
	var tokens []json.Token
	for range 3 {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		tokens = append(tokens, t)
	}
	if tokens[0] != json.Delim('{') || tokens[1] != "kind" {
		return ""
	}
	kind, _ := tokens[2].(string)
	if _, ok := savedResults[kind]; !ok {
		return ""
	}
	return kind
}

// savedResults read the kinds of results and say what is in them.
var savedResults = map[string]struct {
	kind string // for the page
	read func(io.Reader) (encoder, string, error)
}{
	experiment.TrialKind: {"verify", func(r io.Reader) (encoder, string, error) {
		t, err := experiment.DecodeTrial(r)
		if err != nil {
			return nil, "", err
		}
		t.Judge() // by its runs: what the file says of itself proves nothing
		return t, cmp.Or(t.Why, string(t.Conclusion)), nil
	}},
	experiment.TunedKind: {"tune", func(r io.Reader) (encoder, string, error) {
		t, err := experiment.DecodeTuned(r)
		if err != nil {
			return nil, "", err
		}
		return t, chosenText(t), nil
	}},
	"gowhy capacity": {"capacity", func(r io.Reader) (encoder, string, error) {
		t := new(experiment.CapacityResult)
		err := experiment.DecodeSaved(r, "gowhy capacity", experiment.CapacitySchema, t)
		return t, t.Why, err
	}},
	"gowhy capacity table": {"capacity", func(r io.Reader) (encoder, string, error) {
		t := new(experiment.CapacityTable)
		err := experiment.DecodeSaved(r, "gowhy capacity table", experiment.CapacitySchema, t)
		return t, t.Conclusion.Where, err
	}},
	"gowhy comparison": {"comparison", func(r io.Reader) (encoder, string, error) {
		t := new(compare.Comparison)
		err := experiment.DecodeSaved(r, "gowhy comparison", compare.Schema, t)
		return t, t.Summary, err
	}},
}

// An encoder writes itself as JSON.
type encoder interface{ Encode(io.Writer) error }

// chosenText says what a search chose.
func chosenText(t *experiment.Tuned) string {
	var parts []string
	for _, c := range t.Curves {
		if v, ok := t.Chosen[c.Knob.Name]; ok {
			parts = append(parts, c.Knob.Name+"="+c.Knob.Format(v))
		}
	}
	return strings.Join(parts, " ")
}

// decodeSaved reads a saved result of a kind that is known, with a sentence that
// says what is in it.
func decodeSaved(path, kind string) (value encoder, summary string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", unopened(path, err)
	}
	defer f.Close()
	saved := savedResults[kind]
	if value, summary, err = saved.read(io.LimitReader(f, maxSaved)); err != nil {
		return nil, "", damagedResult(path, saved.kind, err)
	}
	return value, summary, nil
}

func damagedResult(path, kind string, err error) error {
	return problem.New(problem.Absence, "save it again: gowhy "+kind+" … --format json", "%q is a damaged result of gowhy %s: %v", path, kind, err)
}

func readResult(path, kind string) (*web.Result, error) {
	value, summary, err := decodeSaved(path, kind)
	if err != nil {
		return nil, err
	}
	name, shown := filepath.Base(path), savedResults[kind].kind
	var b bytes.Buffer
	if err := value.Encode(&b); err != nil {
		return nil, damagedResult(path, shown, err)
	}
	return &web.Result{Trial: web.Trial{Name: name, Kind: shown, Summary: layout.Safe(summary)}, JSON: b.Bytes(), Saved: savedOf(name, value)}, nil
}

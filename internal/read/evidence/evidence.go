// Package evidence reads what a program said about itself: one file for each
// source, holding how to read it and how to fold it into the model.
//
// It hides file formats and their kinds (told apart by content, never by
// name), and how evidence of several sources becomes one [model.Model] on one
// clock. Its functions are [Load] of files and [Read] of a recording that is open;
// what went wrong for a reason that the user can change is a [problem.Error].
//
// evidence never judges, never prints, and never connects to anything.
package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/modules"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// Options say how evidence is read. The zero value is what most want.
type Options struct {
	// Window restricts the model to a piece of the trace.
	Window Window
	// Keep is how many individual goroutines are kept of each group; 0 is
	// exectrace's default, negative all.
	Keep int
	// Sweeps keeps every sweep in the collector's load, for utilization that
	// counts them; a program that allocates much has a million in a second.
	Sweeps bool
	// Workers is how many generations of a trace are read at once; 0 is all cores.
	Workers int
	// NoSource leaves out why the work of hot lines is not necessary, for which their
	// source is read.
	NoSource bool
	// Newest, if set, brings the newest version of a module into the module cache, and returns why it
	// could not.
	Newest func(ctx context.Context, m modules.Module) error
	// Elsewhere says that this is of another machine, and that somebody else sent it: no file of
	// this machine is read for what it names, neither source nor program.
	Elsewhere bool
	// Progress, if set, is called now and then, from any goroutine, with the
	// bytes of the trace read so far and its size, 0 when not known.
	Progress func(read, size int64)
	// Stdin is what "-" reads; nil means os.Stdin.
	Stdin io.Reader
	// Diagnosis, if set, reads a diagnosis that was saved and is given in place
	// of evidence; the model then has only its name. Else one is refused.
	Diagnosis func(io.Reader) error
	// Trace, if set, takes the trace over before it is read, for those who come
	// back to pieces of it: it stays open until release, also when Load fails
	// later. What it returns is given every piece of the trace while that is
	// accounted, as [exectrace.Options.Piece]. A trace that came as a stream or
	// packed is kept in a temporary file until release.
	Trace func(t *exectrace.Trace, release func() error) (piece func(*exectrace.Piece))
}

// A Window is a piece of a trace in time since its start. A To of 0 is the
// end; the zero Window is everything.
type Window struct{ From, To time.Duration }

// Load reads the evidence in the named files, directories and recordings
// ("-" is standard input) and folds it into one model, which is of one run: at
// most one trace and one CPU profile can be given. Two profiles of a state, like
// the heap's, are its start and its end.
func Load(ctx context.Context, paths []string, o Options) (*model.Model, error) {
	l := newLoader(ctx, o)
	paths = l.programsAmong(paths)
	l.singleFile = len(paths) == 1
	for _, p := range paths {
		if err := l.path(p); err != nil {
			return nil, err
		}
	}
	if err := l.unusedProgram(); err != nil {
		return nil, err
	}
	return l.finish()
}

// Read folds the evidence in a recording that is open into one model, as [Load] does with a
// file of it; name is what messages call it. Nothing can be read of it later: the model names
// no file.
func Read(ctx context.Context, name string, rec *recording.Recording, o Options) (*model.Model, error) {
	l := newLoader(ctx, o)
	if err := l.recording(name, rec); err != nil {
		return nil, err
	}
	return l.finish()
}

func newLoader(ctx context.Context, o Options) *loader {
	return &loader{ctx: ctx, opts: o, m: &model.Model{}, from: map[model.Source]string{}, stacks: map[string]model.Stack{}, names: map[string]uint64{}}
}

// Limits on what is unpacked and held, whatever a file claims to contain.
const (
	maxProfile = 256 << 20 // bytes of a profile, unpacked
	maxSpool   = 16 << 30  // bytes of what cannot be read twice, such as standard input
	maxDirs    = 10_000    // entries of a directory
)

// A loader folds sources into its model.
type loader struct {
	ctx  context.Context
	opts Options
	m    *model.Model
	from map[model.Source]string // which file a source was read from
	// cpuInTrace holds the trace's own samples until it is known whether a
	// profile was given, which has more of them.
	cpuInTrace *model.Profile
	skipped    []*problem.Error // files of kinds that nothing reads, passed over
	packings   int              // of what is packed in what is packed
	containers int
	programs   []string               // files that were given, of which a core may be
	cores      int                    // that were read
	singleFile bool                   // one file was given
	uses       int                    // how often something was of use
	stacks     map[string]model.Stack // of profiles, by their frames
	frames     int                    // in those
	names      map[string]uint64      // of functions and files, by which equal stacks are found
	snapshots  map[model.Source][]snapshot
	logs       logs
	scrapes    []*scrape

	aligned          []func(clock) // what is left to do when the window is known
	spanRank         spanRank
	spanFrom, spanTo time.Time
	untimed          time.Duration // length of the CPU profile, which need not tell its time
	cpuFrom          time.Time     // when the CPU profile began
	recordedRange    timeRange
	anchors          []recording.Anchor
	traceStart       exectrace.Time // of the window, when the trace's clock may be the machine's
	env              map[string]string
	toolchain        string // as the recording tells it
	escaping         map[escapeKey]bool
	reasons          *reasoner // nil until a source was read for them
	arg              string    // the path being read, as given
	only             string    // the part of the archive at arg that was asked for; "" is all
	entries          int       // directories read until now
	runs             []string  // in the container that is read, where it has several
	// onlyTrace, if set, is what happens to a trace; all else is passed over.
	onlyTrace func(source) error
	// reading is the file that is being read, lent the one that a trace in it
	// still needs when it has been.
	reading, lent *os.File
}

// A source is one file's content.
type source struct {
	name   string // for the user
	member string // of a recording of ours, else empty
	path   string // of a plain file, else empty
	size   int64  // 0 when not known
	at     io.ReaderAt
	r      io.Reader // from the beginning
}

func (l *loader) path(p string) error {
	l.arg = p
	if p == "-" {
		in := l.opts.Stdin
		if in == nil {
			in = os.Stdin
		}
		l.m.Run.Files = append(l.m.Run.Files, "-")
		return l.stream("standard input", in)
	}
	info, err := os.Stat(p)
	if archive, member, ok := splitMember(p); err != nil && ok {
		l.m.Run.Files = append(l.m.Run.Files, p)
		return l.part(archive, member)
	}
	if err != nil {
		return OpenError(p, err)
	}
	l.m.Run.Files = append(l.m.Run.Files, p)
	if info.IsDir() {
		return l.dir(p)
	}
	if filepath.Base(p) == recording.ManifestMember { // as in: gowhy unpacked/*
		if man := unpacked(filepath.Dir(p)); man != nil {
			var names []string
			entries, _ := os.ReadDir(filepath.Dir(p)) // only to say what is not there
			for _, e := range entries {
				names = append(names, e.Name())
			}
			l.manifest(p, unpackedRecording(man, names))
			return nil
		}
	}
	return l.file(p, "")
}

// unpackedRecording returns an unpacked recording with these files.
func unpackedRecording(man *recording.Manifest, names []string) *recording.Recording {
	rec := &recording.Recording{Manifest: man}
	for _, n := range names {
		rec.Members = append(rec.Members, recording.Member{Name: filepath.Base(n)})
	}
	return rec
}

// recordHelp is what to do about a file that holds nothing of a program, of which nothing is
// known then.
const recordHelp = "gowhy record --help   # how to record a program"

// OpenError returns why a file at p could not be opened.
func OpenError(p string, err error) *problem.Error {
	err = problem.Cause(err)
	if errors.Is(err, fs.ErrNotExist) {
		return &problem.Error{Kind: problem.Absence, What: fmt.Sprintf("no such file: %q", p), Hint: "gowhy record --help   # how to make one; or: gowhy demo", Err: err}
	}
	return problem.New(problem.Failure, "", "cannot read %q: %w", p, err)
}

// file reads the file at p, which is a member of an unpacked recording of ours
// when that is not empty.
func (l *loader) file(p, member string) error {
	f, err := os.Open(p)
	if err != nil {
		return OpenError(p, err)
	}
	defer l.open(f)()
	info, err := f.Stat()
	if err != nil {
		return OpenError(p, err)
	}
	if !info.Mode().IsRegular() { // a pipe, like /dev/fd/63 of a shell's <(…)
		return l.stream(p, f)
	}
	return l.source(source{name: p, member: member, path: p, size: info.Size(), at: f, r: f})
}

// open notes which file is being read, and returns what is to be done when it has
// been.
func (l *loader) open(f *os.File) func() {
	outer := l.reading
	l.reading = f
	return func() {
		l.reading = outer
		if l.lent != f {
			f.Close()
		}
	}
}

// dir reads the evidence among the files of a directory, passing over the rest.
func (l *loader) dir(p string) error {
	d, err := os.Open(p)
	if err != nil {
		return OpenError(p, err)
	}
	names, err := d.Readdirnames(maxDirs)
	d.Close()
	if err != nil && err != io.EOF {
		return OpenError(p, err)
	}
	slices.Sort(names)
	before := l.uses
	l.containers++
	defer func() { l.containers-- }()
	var below []string // directories
	man := unpacked(p)
	if man != nil {
		l.manifest(p, unpackedRecording(man, names))
	}
	for _, n := range names {
		full, member := filepath.Join(p, n), ""
		if man != nil {
			member = n
		}
		if info, err := os.Lstat(full); err == nil && info.IsDir() && !strings.HasPrefix(n, ".") {
			below = append(below, full)
		}
		if info, err := os.Stat(full); err != nil || !info.Mode().IsRegular() || member == recording.ManifestMember {
			continue
		}
		if err := l.collect(l.file(full, member)); err != nil {
			return err
		}
	}
	if err := l.dirsBelow(below, l.uses == before && man == nil); err != nil {
		return err
	}
	if err := l.severalRuns(); err != nil {
		return err
	}
	if l.uses == before && l.containers == 1 && l.onlyTrace == nil {
		return l.emptyError(problem.New(problem.Absence, recordHelp, "the directory %q holds no trace, profile or recording", p))
	}
	return nil
}

// dirsBelow reads the directories in a directory, but only where that itself has no
// evidence: beside a profile there may be all of a source tree.
func (l *loader) dirsBelow(dirs []string, read bool) error {
	for i, d := range dirs {
		if !read || l.containers > maxInside {
			return nil
		}
		if l.entries += 1; l.entries > maxDirs {
			l.note("%s and %d more directories were not read: there are more than %d", d, len(dirs)-i-1, maxDirs)
			return nil
		}
		if err := l.collect(l.dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// unpacked returns the manifest in a directory, nil if that is not an unpacked
// recording.
func unpacked(dir string) *recording.Manifest {
	f, err := os.Open(filepath.Join(dir, recording.ManifestMember))
	if err != nil {
		return nil
	}
	defer f.Close()
	man, err := recording.ReadManifest(f)
	if err != nil {
		return nil // somebody else's file of that name
	}
	return man
}

// stream reads evidence that can be read only once.
func (l *loader) stream(name string, r io.Reader) error {
	return l.source(source{name: name, r: pump(l.ctx, r)})
}

// source reads one file's content, whatever it is.
func (l *loader) source(s source) error {
	if err := l.ctx.Err(); err != nil {
		return err
	}
	head, err := s.peek()
	if err != nil {
		return problem.New(problem.Failure, "", "cannot read %q: %w", s.name, err)
	}
	if n := httpHead(head); n > 0 && n < len(head) {
		s = source{name: s.name, member: s.member, r: skip(s.r, n)}
		if head, err = s.peek(); err != nil {
			return problem.New(problem.Failure, "", "cannot read %q: %w", s.name, err)
		}
	}
	if p := foreign(s.name, head); p != nil {
		return l.pass(p)
	}
	switch kind := artifact.Sniff(head); kind {
	case artifact.Trace:
		return l.trace(s)
	case artifact.Core:
		return l.core(s)
	case artifact.HeapDump:
		return l.heapDump(s)
	case artifact.Tar:
		return l.tar(s)
	case artifact.Gzip, artifact.Zstd, artifact.Bzip2:
		return l.packed(s, unpackers[kind])
	case artifact.Zip:
		return l.zip(s)
	case artifact.Binary:
		return l.binary(s, head)
	case artifact.Text:
		return l.text(s, head)
	default:
		return l.pass(notEvidence(kind, s.name, head))
	}
}

// binary reads what is neither text nor anything that says what it is.
func (l *loader) binary(s source, head []byte) error {
	if l.onlyTrace == nil && isLoad(head) { // vegeta's own encoding
		return l.readLoad(s)
	}
	return l.profile(s)
}

// text reads a text in whichever format it is.
func (l *loader) text(s source, head []byte) error {
	if l.onlyTrace != nil {
		return nil
	}
	for _, layer := range textLayers {
		if !layer.is(head) {
			continue
		}
		s = source{name: s.name, member: s.member, r: layer.plain(s.r, head)}
		var err error
		if head, err = s.peek(); err != nil {
			return problem.New(problem.Failure, "", "cannot read %q: %w", s.name, err)
		}
	}
	return textFormat(head).read(l, s)
}

// A plainReader leaves out the control sequences that steer a terminal, as colours
// do: what wrote to a terminal once is a log all the same.
type plainReader struct {
	r     io.Reader
	state controlState
}

type controlState uint8

const (
	outside controlState = iota
	escaped              // after the escape character
	inside               // after the bracket, before the letter that ends it
)

func (r *plainReader) Read(p []byte) (int, error) {
	for {
		n, err := r.r.Read(p)
		if r.state != outside || bytes.IndexByte(p[:n], artifact.Escape) >= 0 {
			n = r.strip(p[:n])
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// strip moves what is text to the beginning of p and returns how much that is.
func (r *plainReader) strip(p []byte) (n int) {
	for _, c := range p {
		switch {
		case c == artifact.Escape:
			r.state = escaped
		case r.state == escaped && c == '[':
			r.state = inside
		case r.state == inside && c >= 0x40 && c <= 0x7e:
			r.state = outside // the letter that says what it does
		case r.state == inside && c >= 0x20 && c <= 0x3f: // its parameters
		default:
			r.state = outside
			p[n] = c
			n++
		}
	}
	return n
}

// headLen is how much of a file is looked at to tell what it is: in a log the
// first lines may be about something else.
const headLen = 16 << 10

// peek returns the beginning of the content and leaves r before it.
func (s *source) peek() ([]byte, error) {
	head := make([]byte, headLen)
	if s.at != nil {
		n, err := s.at.ReadAt(head, 0)
		if err != nil && err != io.EOF {
			return nil, err
		}
		return head[:n], nil
	}
	b := bufio.NewReaderSize(s.r, 1<<16)
	s.r = b
	head, err := b.Peek(len(head))
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, err
	}
	return head, nil
}

// pass returns the error of a file that cannot be read as evidence, unless it is passed over:
// in a directory or archive it is passed over, given by name it is an error.
func (l *loader) pass(p *problem.Error) error {
	if l.containers == 0 {
		return p
	}
	l.skipped = append(l.skipped, p)
	return nil
}

// emptyError returns why a directory or archive has no evidence: that something in it unpacks without end,
// else that there is none.
func (l *loader) emptyError(none *problem.Error) error {
	if i := slices.IndexFunc(l.skipped, func(p *problem.Error) bool { return errors.Is(p, recording.ErrUnpacked) }); i >= 0 {
		return l.skipped[i]
	}
	return none
}

// unpackers open what somebody packed.
var unpackers = map[artifact.Kind]func(io.Reader) (io.Reader, error){
	artifact.Gzip:  func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	artifact.Bzip2: func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
	artifact.Zstd: func(r io.Reader) (io.Reader, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err != nil {
			return nil, err
		}
		return z, nil // with one decoder it has no goroutine that Close would end
	},
}

// maxZstdWindow is the largest distance that packing may have looked back: zstd's own --long.
const maxZstdWindow = 128 << 20

// packed reads what is inside: a profile, as pprof writes them, or a trace that
// somebody compressed.
func (l *loader) packed(s source, open func(io.Reader) (io.Reader, error)) error {
	if s.at != nil {
		s.r = io.NewSectionReader(s.at, 0, s.size)
	}
	z, err := recording.Unpack(s.r, open)
	if err != nil {
		return l.pass(cutProblem(s.name, err))
	}
	whole := &cutReader{r: z}
	inner := source{name: s.name, member: s.member, r: whole}
	head, err := inner.peek()
	if len(head) == 0 {
		if err == nil {
			err = cmp.Or(whole.err, io.ErrUnexpectedEOF)
		}
		return l.pass(cutProblem(s.name, err))
	}
	if p := foreign(s.name, head); p != nil {
		return l.pass(p)
	}
	switch kind := artifact.Sniff(head); kind {
	case artifact.Tar:
		return l.tar(inner) // which notes where it is cut
	case artifact.Trace:
		err := l.trace(inner)
		if err == nil && whole.err != nil {
			l.note("%s is cut short or damaged: %v; what could be unpacked was read", s.name, whole.err)
		}
		return err
	case artifact.HeapDump:
		return l.heapDump(inner)
	case artifact.Core:
		if s.at != nil { // most of a core may be zeros, which unpack to more than other evidence does
			if whole.r, err = open(io.NewSectionReader(s.at, 0, s.size)); err != nil {
				return l.pass(cutProblem(s.name, err))
			}
			inner.r = whole
		}
		err := l.core(inner)
		if err == nil && whole.err != nil {
			l.note("%s is cut short or damaged: %v; what could be unpacked was read", s.name, whole.err)
		}
		return err
	case artifact.Binary:
		inner.r = strictReader{inner.r, whole} // half a profile is none
		return l.binary(inner, head)
	case artifact.Text:
		err := l.text(inner, head)
		if err == nil && whole.err != nil {
			l.note("%s is cut short or damaged: %v; what could be unpacked was read", s.name, whole.err)
		}
		return err
	case artifact.Gzip, artifact.Zstd, artifact.Bzip2: // as a profile in pprof's format is, in whatever it was packed in
		if l.packings > 0 {
			return l.pass(problem.New(problem.Failure, "unpack it, then try again", "%q is packed three times", s.name))
		}
		l.packings++
		defer func() { l.packings-- }()
		return l.packed(inner, unpackers[kind])
	case artifact.Zip:
		return l.pass(problem.New(problem.Failure, "unpack it, then try again", "%q is an archive that was packed again", s.name))
	default:
		return l.pass(notEvidence(kind, s.name, head))
	}
}

// A cutReader takes the error that unpacking ended with for the end of what
// there is, and remembers it: of a trace every part is of use.
type cutReader struct {
	r   io.Reader
	err error
}

func (c *cutReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, recording.ErrUnpacked) {
		c.err, err = err, io.EOF
	}
	return n, err
}

// A strictReader gives the error back that a cutReader behind it kept.
type strictReader struct {
	r   io.Reader
	cut *cutReader
}

func (s strictReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err == io.EOF && s.cut.err != nil {
		err = s.cut.err
	}
	return n, err
}

func cutProblem(name string, err error) *problem.Error {
	if errors.Is(err, recording.ErrUnpacked) {
		return problem.New(problem.Failure, "unpack it yourself if you trust it, then gowhy FILE", "%q is no evidence: %w", name, err)
	}
	return problem.New(problem.Failure, "fetch it again: a profile is only whole when its time has run out", "%q is cut short or damaged: %w", name, err)
}

// zip reads the members of a recording, or of an archive that holds evidence.
func (l *loader) zip(s source) error {
	if s.at == nil {
		return l.spool(s, l.zip)
	}
	rec, err := recording.NewReader(s.at, s.size)
	if err != nil {
		hint := recordHelp
		what := fmt.Sprintf("%q begins like a zip archive and is none", s.name)
		if errors.Is(err, recording.ErrMembers) {
			what = fmt.Sprintf("%q is an archive of more files than a recording has: %v", s.name, recording.ErrMembers)
			hint = "unzip -d unpacked " + shell.Word(s.name) + " && gowhy unpacked"
		}
		return l.pass(&problem.Error{Kind: problem.Absence, What: what, Hint: hint, Err: err})
	}
	return l.recording(s.name, rec)
}

// recording reads the members of what is a recording of ours, if it has a manifest, or an
// archive of others.
func (l *loader) recording(name string, rec *recording.Recording) error {
	l.manifest(name, rec)
	before := l.uses
	l.containers++
	defer func() { l.containers-- }()
	for _, m := range rec.Members {
		if !l.wantsMember(m.Name) {
			continue
		}
		if err := l.collect(l.member(name, m, rec.Manifest != nil)); err != nil {
			return err
		}
	}
	if err := l.severalRuns(); err != nil {
		return err
	}
	if l.uses == before && l.containers == 1 && l.only == "" && l.onlyTrace == nil {
		return l.emptyError(l.emptyArchive(name, rec))
	}
	return nil
}

func (l *loader) emptyArchive(name string, rec *recording.Recording) *problem.Error {
	p := problem.New(problem.Absence, recordHelp, "%q holds no trace and no profile", name)
	if rec.Manifest != nil {
		for _, r := range rec.Manifest.Refused {
			p.What += fmt.Sprintf("; %s: %s", r.Member, r.Why)
		}
	}
	return p
}

// member reads a member of an archive. Its name means something only when we
// have given it.
func (l *loader) member(archive string, m recording.Member, ours bool) error {
	name, member := archive+":"+m.Name, ""
	if ours {
		member = m.Name
	}
	if at, ok := m.ReaderAt(); ok {
		return l.source(source{name: name, member: member, size: at.Size(), at: at, r: io.NewSectionReader(at, 0, at.Size())})
	}
	f, err := m.Open()
	if err != nil {
		return l.pass(cutProblem(name, err))
	}
	defer f.Close()
	return l.source(source{name: name, member: member, r: f})
}

// errNoSpool is that nothing of a stream was read yet, for there is no place to put it.
var errNoSpool = errors.New("no temporary file can be made")

// spool puts a stream into a temporary file, for readers that have to seek.
func (l *loader) spool(s source, read func(source) error) error {
	f, n, err := spoolFile(ctxReader{l.ctx, s.r})
	if f == nil {
		return err
	}
	defer os.Remove(f.Name()) // who has it open can still read it
	defer l.open(f)()
	if errors.Is(err, recording.ErrUnpacked) {
		return l.pass(cutProblem(s.name, err))
	}
	if err != nil && n == 0 {
		return problem.New(problem.Failure, "", "cannot read %q: %w", s.name, err)
	}
	if err != nil {
		l.note("%s: reading ended early: %v", s.name, err)
	}
	if n == maxSpool {
		l.note("%s has more than %d GiB; only these were read", s.name, maxSpool>>30)
	}
	return read(source{name: s.name, member: s.member, path: f.Name(), size: n, at: f, r: io.NewSectionReader(f, 0, n)})
}

// spoolFile puts a stream into a temporary file, which is to be removed, and returns how many bytes there
// were until the error.
func spoolFile(r io.Reader) (f *os.File, n int64, err error) {
	if f, err = os.CreateTemp("", "gowhy-*"); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errNoSpool, err)
	}
	n, err = io.Copy(&sparseWriter{f: f}, io.LimitReader(r, maxSpool))
	return f, n, err
}

// A sparseWriter leaves holes in a file where zeros are, of which a core is full.
type sparseWriter struct {
	f  *os.File
	at int64
}

func (w *sparseWriter) Write(p []byte) (n int, err error) {
	const block = 4 << 10
	for n < len(p) && err == nil {
		part := p[n:min(len(p), n+block-int(w.at%block))]
		if bytes.Count(part, []byte{0}) < len(part) {
			_, err = w.f.WriteAt(part, w.at)
		}
		n += len(part)
		w.at += int64(len(part))
	}
	if err == nil {
		err = w.f.Truncate(w.at)
	}
	return n, err
}

// A pumpReader stops when its context does, even while it waits for what
// nobody sends. The goroutine behind it then stays in its Read until that
// returns, which for a pipe may be never: it costs a buffer.
type pumpReader struct {
	ctx  context.Context
	full <-chan chunk
	free chan<- []byte
	have []byte // not read yet
	buf  []byte // that have is a part of
	err  error
}

type chunk struct {
	buf []byte
	n   int
	err error
}

func pump(ctx context.Context, r io.Reader) *pumpReader {
	const size, ahead = 256 << 10, 2
	full, free := make(chan chunk, ahead), make(chan []byte, ahead)
	for range ahead {
		free <- make([]byte, size)
	}
	go func() {
		for {
			select {
			case buf := <-free:
				n, err := r.Read(buf)
				full <- chunk{buf, n, err} // has room for all buffers
				if err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return &pumpReader{ctx: ctx, full: full, free: free}
}

func (p *pumpReader) Read(b []byte) (int, error) {
	for len(p.have) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.buf != nil {
			p.free <- p.buf // has room for all buffers
			p.buf = nil
		}
		select {
		case c := <-p.full:
			p.buf, p.have, p.err = c.buf, c.buf[:c.n], c.err
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.have)
	p.have = p.have[n:]
	return n, nil
}

// A ctxReader stops when its context does.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// take notes that a source is read from the named file, and refuses a second.
func (l *loader) take(s model.Source, what, name string) error {
	if err := l.sameRun(s, name); err != nil {
		return err
	}
	if other, ok := l.from[s]; ok {
		if a, b := containerOf(other), containerOf(name); a != "" && b != "" && a != b {
			return problem.New(problem.Misuse, "gowhy "+shell.Word(b)+"   # one at a time", "two recordings were given, %q and %q; a diagnosis is of one run", a, b)
		}
		hint := "gowhy " + shell.Word(other) + "   # one at a time"
		if l.arg == "-" {
			hint = "save it as a file, then gowhy FILE:MEMBER"
		}
		return problem.New(problem.Misuse, hint, "two %ss were given, %q and %q; a diagnosis is of one run", what, other, name)
	}
	l.from[s] = name
	l.uses++
	return nil
}

// containerOf returns the archive that a member's name is of, empty for a file.
func containerOf(name string) string {
	container, _, _ := strings.Cut(name, ".gowhy:")
	if container == name {
		return ""
	}
	return container + ".gowhy"
}

// finish joins what was read.
func (l *loader) finish() (*model.Model, error) {
	if l.uses == 0 {
		p := problem.New(problem.Absence, recordHelp, "no evidence was given")
		if len(l.skipped) > 0 {
			p = l.skipped[0]
		}
		return nil, p
	}
	if err := l.join(); err != nil {
		return nil, err
	}
	for _, p := range l.skipped {
		l.note("passed over: %s", p.What)
	}
	return l.m, nil
}

// join puts together what several files said, on one clock.
func (l *loader) join() error {
	if err := l.joinSnapshots(); err != nil {
		return err
	}
	l.resolveMoment()
	l.joinLogs()
	l.joinBenchmarks()
	l.noteTables()
	l.joinScrapes()
	c, err := l.clock()
	if err != nil {
		return err
	}
	for _, f := range l.aligned {
		f(c)
	}
	l.noteUncut(c)
	l.joinCPU()
	l.joinHolders()
	l.joinBuild()
	l.nameLiterals()
	l.joinReasons()
	l.joinKeepers()
	l.joinSetters()
	l.joinPolls()
	l.joinRetries()
	l.joinChains()
	l.joinHolding()
	l.joinReleases()
	return nil
}

// joinCPU decides which CPU samples the model gets. A profile has more labels
// and no gaps; but inside a window only the trace's own samples can be cut to it.
func (l *loader) joinCPU() {
	windowed := l.opts.Window != Window{}
	switch {
	case l.m.CPU == nil:
		l.m.CPU = l.cpuInTrace
	case windowed && l.cpuInTrace != nil:
		l.m.CPU = l.cpuInTrace
		l.note("inside the window the trace's own CPU samples are used, not the profile")
	case windowed && l.m.Sched != nil:
		l.note("the CPU profile covers the whole run, not only the window")
	}
	l.nameSampleGroups()
}

// nameSampleGroups keeps only those groups of samples that the trace knows: a
// profile's outermost frame need not be where its goroutine began.
func (l *loader) nameSampleGroups() {
	if l.m.CPU == nil || l.m.Sched == nil {
		return
	}
	known := map[string]bool{}
	for i := range l.m.Sched.Groups {
		known[l.m.Sched.Groups[i].Name] = true
	}
	for i := range l.m.CPU.Samples {
		if s := &l.m.CPU.Samples[i]; !known[s.Group] {
			s.Group = ""
		}
	}
}

func (l *loader) note(format string, args ...any) {
	c := &l.m.Run.Coverage
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

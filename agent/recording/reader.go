package recording

import (
	"archive/zip"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// Limits on what a hostile archive may ask for.
const (
	maxMembers  = 1000
	maxManifest = 1 << 20 // bytes
	// maxIndex bounds what is read of an index, in bytes: an entry has 46 and a name, and takes
	// six times as much in memory, so that a file of 256 MB that is nothing but entries would
	// take 1.5 GB before they are counted. What stands behind the index, a comment, is read first.
	maxIndex = 512*maxMembers + 128<<10
	// Ours are stored: only archives that others made have packed members, with
	// a trace or two inside. maxUnpacked bounds each, in bytes, and so does
	// maxRatio beyond the first freeUnpacked, which is soon had: a trace or a profile packs to a
	// third or a tenth, a dump of equal goroutines to a fiftieth, zeros to a
	// thousandth.
	maxUnpacked  = 16 << 30
	maxRatio     = 200
	freeUnpacked = 64 << 20
)

// ErrUnpacked says that something unpacks to more than evidence does.
var ErrUnpacked = fmt.Errorf("it unpacks to more than %d times its size, or to more than %d GiB", maxRatio, maxUnpacked>>30)

// ErrMembers says that an archive has more members than a recording may have.
var ErrMembers = fmt.Errorf("more than %d members", maxMembers)

// A Recording is an open recording, or any other zip archive: a build
// server's artifact with a trace in it has members too, but no manifest.
type Recording struct {
	Manifest *Manifest // nil when there is none
	Members  []Member  // in the order of the file, the manifest left out
	Cut      bool      // the end of the file is missing
	Notes    []string  // what of it could not be read or understood, in words for the user
	file     *os.File
}

// A Member is one piece of evidence.
type Member struct {
	Name string // as the archive has it; not a path
	Size int64  // unpacked; of a cut member what is left. What a hostile archive says need not be true
	Cut  bool   // its end is missing
	at   *io.SectionReader
	open func() (io.ReadCloser, error)
}

// ReaderAt returns the member's content in place, and false when it has to
// be unpacked.
func (m Member) ReaderAt() (*io.SectionReader, bool) { return m.at, m.at != nil }

// Open returns a reader of the member's content from its beginning.
func (m Member) Open() (io.ReadCloser, error) {
	if m.at != nil {
		return io.NopCloser(io.NewSectionReader(m.at, 0, m.at.Size())), nil
	}
	return m.open()
}

// Open opens the recording at path.
func Open(path string) (*Recording, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		var r *Recording
		if r, err = NewReader(f, info.Size()); err == nil {
			r.file = f
			return r, nil
		}
	}
	f.Close()
	return nil, err
}

// NewReader reads the recording in the first size bytes of r. It returns an
// error that wraps [ErrFormat] when there is none.
func NewReader(r io.ReaderAt, size int64) (*Recording, error) {
	rec, err := indexed(r, size)
	if errors.Is(err, ErrMembers) {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err != nil {
		if rec = salvage(r, size); len(rec.Members) == 0 {
			return nil, fmt.Errorf("%w: %v", ErrFormat, err)
		}
	}
	if len(rec.Members) > maxMembers {
		return nil, fmt.Errorf("%w: %w", ErrFormat, ErrMembers)
	}
	rec.takeManifest()
	return rec, nil
}

// Close closes the file, if [Open] opened one.
func (r *Recording) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// A boundedReader fails when more is read than an index has.
type boundedReader struct {
	io.ReaderAt
	left int64 // negative is no bound
}

func (b *boundedReader) ReadAt(p []byte, off int64) (int, error) {
	if b.left >= 0 {
		if b.left -= int64(len(p)); b.left < 0 {
			b.left = 0
			return 0, ErrMembers
		}
	}
	return b.ReaderAt.ReadAt(p, off)
}

func indexed(r io.ReaderAt, size int64) (*Recording, error) {
	bounded := &boundedReader{r, maxIndex}
	z, err := zip.NewReader(bounded, size)
	bounded.left = -1 // for what is in the archive
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	z.RegisterDecompressor(zip.Deflate, inflate)
	if !ofWholeFile(z, r, size) {
		return nil, errors.New("its index is of an archive inside it")
	}
	rec := &Recording{}
	total := int64(0)
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		m := Member{Name: f.Name, Size: int64(min(f.UncompressedSize64, math.MaxInt64)), open: f.Open}
		if off, err := f.DataOffset(); err == nil {
			left := max(size-off, 0)
			total += int64(min(f.CompressedSize64, uint64(left)))
			if f.Method == zip.Store && f.Flags&flagEncrypted == 0 {
				m.Cut = m.Size > left
				m.Size = min(m.Size, left)
				m.at = io.NewSectionReader(r, off, m.Size)
			}
		}
		if total > size {
			return nil, errors.New("its members lie on top of each other")
		}
		rec.Members = append(rec.Members, m)
	}
	return rec, nil
}

// ofWholeFile reports whether an index is that of the file: when a recording
// is cut in or behind a member that is itself an archive, that one's index is
// the last there is.
func ofWholeFile(z *zip.Reader, r io.ReaderAt, size int64) bool {
	s := &salvager{r: r, size: size}
	first, ok := s.header(0)
	if !ok {
		return true // it begins with something else, such as a program that unpacks it
	}
	begins := []int64{first.body}
	if first.name == ManifestMember { // of a stream; see Stream.Start
		if second, ok := s.header(first.body + first.packed); ok {
			begins = append(begins, second.body)
		}
	}
	for _, f := range z.File {
		if off, err := f.DataOffset(); err == nil && slices.Contains(begins, off) {
			return true
		}
	}
	return false
}

// takeManifest takes the last manifest that is whole: a stream has two.
func (r *Recording) takeManifest() {
	r.Members = slices.DeleteFunc(r.Members, func(m Member) bool {
		if m.Name != ManifestMember {
			return false
		}
		man, err := manifestOf(m)
		if err != nil {
			if !m.Cut {
				r.Notes = append(r.Notes, "the manifest cannot be read: "+err.Error())
			}
			return true
		}
		r.Manifest = man
		return true
	})
	if r.Manifest != nil && r.Manifest.Schema > Schema {
		r.Notes = append(r.Notes, fmt.Sprintf("written by a newer gowhy (schema %d, this one knows %d): what is new in it was left out",
			r.Manifest.Schema, Schema))
	}
}

func manifestOf(m Member) (*Manifest, error) {
	f, err := m.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadManifest(f)
}

// ReadManifest reads the manifest of a recording that somebody unpacked.
func ReadManifest(r io.Reader) (man *Manifest, err error) {
	text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("it is longer than %d bytes", maxManifest)
	}
	if err := json.Unmarshal(text, &man); err != nil {
		return nil, err
	}
	if man == nil || man.Schema < 1 {
		return nil, errors.New("it has no schema")
	}
	return man, nil
}

// Unpack returns a reader of what somebody packed, which fails with
// [ErrUnpacked] as soon as that is far more than what was read of packed.
func Unpack(packed io.Reader, open func(io.Reader) (io.Reader, error)) (io.Reader, error) {
	u := &unpacked{packed: packed}
	r, err := open(packedReader{u})
	u.r = r
	return u, err
}

type unpacked struct {
	packed io.Reader
	r      io.Reader
	in, n  int64 // bytes of each until now
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.n += int64(n)
	if u.n > maxUnpacked || u.n-freeUnpacked > maxRatio*u.in {
		return 0, ErrUnpacked
	}
	return n, err
}

// A packedReader counts what is unpacked.
type packedReader struct{ u *unpacked }

func (p packedReader) Read(b []byte) (int, error) {
	n, err := p.u.packed.Read(b)
	p.u.in += int64(n)
	return n, err
}

// inflate unpacks what a zip archive holds.
func inflate(packed io.Reader) io.ReadCloser {
	r, _ := Unpack(packed, func(r io.Reader) (io.Reader, error) { return flate.NewReader(r), nil })
	return io.NopCloser(r)
}

package recording

import (
	"archive/zip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Limits on what a hostile archive may ask for.
const (
	maxMembers  = 1000
	maxManifest = 1 << 20 // bytes
)

// A Recording is an open recording, or any other zip archive: a build
// server's artifact with a trace in it has members too, but no manifest.
type Recording struct {
	Manifest *Manifest // nil when there is none
	Members  []Member  // in the order of the file, the manifest left out
	Cut      bool      // the end of the file is missing
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
	if err != nil {
		if rec = salvage(r, size); len(rec.Members) == 0 {
			return nil, fmt.Errorf("%w: %v", ErrFormat, err)
		}
	}
	if len(rec.Members) > maxMembers {
		return nil, fmt.Errorf("%w: an archive of %d files", ErrFormat, len(rec.Members))
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

func indexed(r io.ReaderAt, size int64) (*Recording, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	rec := &Recording{}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		m := Member{Name: f.Name, Size: int64(min(f.UncompressedSize64, math.MaxInt64)), open: f.Open}
		if off, err := f.DataOffset(); err == nil && f.Method == zip.Store && f.Flags&flagEncrypted == 0 {
			m.at = io.NewSectionReader(r, off, min(int64(min(f.CompressedSize64, math.MaxInt64)), size-off))
		}
		rec.Members = append(rec.Members, m)
	}
	return rec, nil
}

const (
	localHeader    = 30 // bytes, without name and extra field
	localSignature = 0x04034b50
	flagEncrypted  = 1 << 0
	flagDescriptor = 1 << 3 // the size follows the content
)

// salvage finds members by their own headers, for an archive whose index at
// the end is missing. It stops at the first that does not say its size.
func salvage(r io.ReaderAt, size int64) *Recording {
	rec := &Recording{Cut: true}
	for off := int64(0); len(rec.Members) <= maxMembers; {
		m, next, ok := localMember(r, off, size)
		if !ok {
			return rec
		}
		rec.Members = append(rec.Members, m)
		off = next
	}
	return rec
}

func localMember(r io.ReaderAt, off, size int64) (m Member, next int64, ok bool) {
	var h [localHeader]byte
	if n, _ := r.ReadAt(h[:], off); n < localHeader || binary.LittleEndian.Uint32(h[:]) != localSignature {
		return m, 0, false
	}
	flags, method := binary.LittleEndian.Uint16(h[6:]), binary.LittleEndian.Uint16(h[8:])
	length := int64(binary.LittleEndian.Uint32(h[18:]))
	name := make([]byte, binary.LittleEndian.Uint16(h[26:]))
	body := off + localHeader + int64(len(name)) + int64(binary.LittleEndian.Uint16(h[28:]))
	if flags&(flagEncrypted|flagDescriptor) != 0 || method != zip.Store || body > size {
		return m, 0, false
	}
	if _, err := r.ReadAt(name, off+localHeader); err != nil && err != io.EOF {
		return m, 0, false
	}
	// A member over 4 GiB says its size in the index only; without one it
	// reaches to the end.
	left := size - body
	cut := length > left
	if cut {
		length = left
	}
	m = Member{Name: string(name), Size: length, Cut: cut}
	m.at = io.NewSectionReader(r, body, m.Size)
	return m, body + m.Size, true
}

func (r *Recording) takeManifest() {
	for i, m := range r.Members {
		if m.Name != manifestMember {
			continue
		}
		if man := readManifest(m); man != nil {
			r.Manifest = man
			r.Members = append(r.Members[:i:i], r.Members[i+1:]...)
		}
		return
	}
}

func readManifest(m Member) *Manifest {
	f, err := m.Open()
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest))
	if err != nil {
		return nil
	}
	var man Manifest
	if json.Unmarshal(text, &man) != nil || man.Schema < 1 {
		return nil
	}
	return &man
}

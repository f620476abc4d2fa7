package recording

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Writer collects members, any number of them at the same time, and packs
// them when it is finished. Until then they are plain files in a directory
// beside the recording, so that they survive a crash of the recorder.
type Writer struct {
	path string
	dir  string
}

// Create begins a recording that [Writer.Finish] will leave at path. An
// existing file there is replaced, and only then.
func Create(path string) (*Writer, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+Unfinished)
	if err != nil {
		return nil, err
	}
	return &Writer{path: path, dir: dir}, nil
}

// Begin writes down what is known of the recording at its start, so that it can
// be finished by [Resume] when its recorder dies.
func (w *Writer) Begin(m Manifest) error {
	m.Schema = Schema
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return w.Add(ManifestMember, text)
}

// Unfinished is the part of a directory's name behind that of the recording
// that is to be there.
const Unfinished = ".partial-"

// Resume takes up the recording in a directory that a recorder has left behind,
// to be finished, with the manifest of its beginning. Its End is when something
// was written last.
func Resume(dir string) (*Writer, Manifest, error) {
	dir = filepath.Clean(dir)
	at := strings.LastIndex(filepath.Base(dir), Unfinished)
	if at <= 0 {
		return nil, Manifest{}, fmt.Errorf("%w: %s is not named like a recording that is under way", ErrFormat, dir)
	}
	f, err := os.Open(filepath.Join(dir, ManifestMember))
	if err != nil {
		return nil, Manifest{}, err
	}
	defer f.Close()
	m, err := ReadManifest(f)
	if err != nil {
		return nil, Manifest{}, fmt.Errorf("%w: its manifest: %w", ErrFormat, err)
	}
	w := &Writer{path: filepath.Join(filepath.Dir(dir), filepath.Base(dir)[:at]), dir: dir}
	names, err := w.members()
	for i := 0; i < len(names) && err == nil; i++ {
		var info os.FileInfo
		if info, err = os.Stat(filepath.Join(dir, names[i])); err == nil && info.ModTime().After(m.End) {
			m.End = info.ModTime()
		}
	}
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%w: nothing was recorded", ErrFormat)
	}
	return w, *m, err
}

// Target returns where [Writer.Finish] puts the recording.
func (w *Writer) Target() string { return w.path }

// Path returns where the member's content is to be written, for a program
// that does so itself. The file need not come to exist. It is absolute where
// the working directory is known.
func (w *Writer) Path(member string) string {
	p := filepath.Join(w.dir, filepath.Base(member))
	if abs, err := filepath.Abs(p); err == nil {
		return abs
	}
	return p
}

// Add writes a whole member, in place of what was written to it before.
func (w *Writer) Add(member string, content []byte) error {
	return os.WriteFile(w.Path(member), content, 0o600)
}

// Keep puts what there is by now in place as a recording, in one step, and returns when it is
// on the disk. The writer goes on, and may replace it: it is for a program that may end, or
// take the machine along, at any moment.
func (w *Writer) Keep(m Manifest) error {
	m.Schema = Schema
	tmp := filepath.Join(w.dir, "."+ManifestMember+".zip")
	if err := w.pack(tmp, m, (*os.File).Sync); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := os.Rename(tmp, w.path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(w.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	_ = dir.Sync() // some systems sync no directories; then the file's name is there when they like
	return nil
}

// Finish packs the members that are there and not empty, and puts the recording
// in place. Whatever happens, the writer is used up; on an error the members
// stay in their directory, which the error names.
func (w *Writer) Finish(m Manifest) error { return w.FinishAt(w.path, m) }

// FinishAt is Finish with another place for the recording, on the same disk.
func (w *Writer) FinishAt(path string, m Manifest) error {
	m.Schema = Schema
	tmp := filepath.Join(w.dir, "."+ManifestMember+".zip")
	err := w.pack(tmp, m, nil)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("%w (what was recorded is in %s)", err, w.dir)
	}
	return os.RemoveAll(w.dir)
}

// Discard gives up the recording and removes its members.
func (w *Writer) Discard() error { return os.RemoveAll(w.dir) }

// pack writes the archive, and calls then, if it is not nil, before it is closed.
func (w *Writer) pack(path string, m Manifest, then func(*os.File) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := zip.NewWriter(f)
	// The manifest goes first: it is what must survive a cut.
	if err := storeManifest(z, m, m.End); err != nil {
		return err
	}
	names, err := w.members()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := storeFile(z, filepath.Join(w.dir, name), m.End); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil || then == nil {
		return err
	}
	return then(f)
}

// members returns the names of the member files, small ones first: a cut at
// the end then costs the tail of the largest, which is the trace and readable
// without it.
func (w *Writer) members() ([]string, error) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		return nil, err
	}
	size := map[string]int64{}
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() == 0) || strings.HasPrefix(e.Name(), ".") || e.Name() == ManifestMember {
			continue
		}
		if err != nil {
			return nil, err
		}
		size[e.Name()] = info.Size()
		names = append(names, e.Name())
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case size[a] < size[b]:
			return -1
		case size[a] > size[b]:
			return 1
		}
		return 0
	})
	return names, nil
}

func storeFile(z *zip.Writer, path string, at time.Time) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return store(z, filepath.Base(path), at, info.Size(), f)
}

func storeManifest(z *zip.Writer, m Manifest, at time.Time) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	return store(z, ManifestMember, at, int64(len(text)), bytes.NewReader(text))
}

// store writes a member whose size and sum stand in its own header, not
// behind it: only so can it be found without the index at the end.
func store(z *zip.Writer, name string, at time.Time, size int64, r io.ReadSeeker) error {
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, r, size); err != nil {
		return err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := &zip.FileHeader{
		Name:               name,
		Method:             zip.Store,
		CRC32:              sum.Sum32(),
		CompressedSize64:   uint64(size),
		UncompressedSize64: uint64(size),
	}
	//lint:ignore SA1019 CreateRaw does not look at Modified
	h.SetModTime(at)
	dst, err := z.CreateRaw(h)
	if err != nil {
		return err
	}
	_, err = io.CopyN(dst, r, size)
	return err
}

// Package backup writes what a server keeps as one file, and makes a directory of that.
//
// It hides the form: a tar of plain files whose last, MANIFEST, has the SHA-256 and the
// size of each. An archive without it was cut. [Write] makes one while it is sent,
// [Check] reads one through, and [Restore] makes a directory: a whole one or none.
package backup

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/fleet/durable"
)

// Path is where a server gives one, to who may do anything with it.
const Path = "/-/backup"

// A Part is a directory whose files, and those below, are in an archive.
type Part struct {
	Name string // of its directory in the archive; "." is the archive's own
	Dir  string
	// Keep says which files, by their path in the directory; nil is all.
	Keep func(name string) bool
}

// Contents are what an archive has.
type Contents struct {
	Files int
	Bytes int64
}

const (
	manifest = "MANIFEST"
	head     = "gowhy-fleet backup 1\n" // its first line
	// mostManifest bounds it: two million files.
	mostManifest = 256 << 20
	// mostName bounds a path in an archive.
	mostName = 1024
)

// ErrBroken is the error of an archive that was cut or changed, or is none.
var ErrBroken = errors.New("the backup is not whole")

// Write writes an archive. Files that are gone when their turn comes are left out.
func Write(w io.Writer, parts ...Part) error {
	t := tar.NewWriter(w)
	list := bytes.NewBufferString(head)
	for _, p := range parts {
		err := filepath.WalkDir(p.Dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(p.Dir, file)
			if err != nil || p.Keep != nil && !p.Keep(name) {
				return err
			}
			return add(t, list, file, path.Join(p.Name, filepath.ToSlash(name)))
		})
		if err != nil {
			return err
		}
	}
	if err := t.WriteHeader(header(manifest, int64(list.Len()))); err != nil {
		return err
	}
	if _, err := list.WriteTo(t); err != nil {
		return err
	}
	return t.Close()
}

func header(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600}
}

// add adds a file and its line of the manifest.
func add(t *tar.Writer, list io.Writer, file, name string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(header(name, info.Size())); err != nil {
		return err
	}
	h := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(t, h), f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	_, err = fmt.Fprint(list, line(name, info.Size(), h.Sum(nil)))
	return err
}

func line(name string, size int64, sum []byte) string {
	return fmt.Sprintf("%x %d %s\n", sum, size, name)
}

// Check reads an archive to its end.
func Check(r io.Reader) (Contents, error) {
	return read(r, func(_ string, content io.Reader) error {
		_, err := io.Copy(io.Discard, content)
		return err
	})
}

// read gives the files of an archive, which are what its manifest says when there is no
// error.
func read(r io.Reader, file func(name string, content io.Reader) error) (c Contents, err error) {
	broken := func(format string, args ...any) (Contents, error) {
		return Contents{}, fmt.Errorf("%w: "+format, append([]any{ErrBroken}, args...)...)
	}
	t := tar.NewReader(r)
	var lines []string
	for {
		h, err := t.Next()
		if err == io.EOF {
			return broken("it ends before its list of files")
		}
		if err != nil {
			return broken("%w", err)
		}
		if h.Typeflag != tar.TypeReg || len(h.Name) > mostName || !filepath.IsLocal(filepath.FromSlash(h.Name)) || path.Clean(h.Name) != h.Name || strings.ContainsAny(h.Name, "\n\\") {
			return broken("%.80q is no file that a backup has", h.Name)
		}
		if h.Name == manifest {
			break
		}
		sum := sha256.New()
		if err := file(h.Name, io.TeeReader(t, sum)); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return broken("it ends in %.80q", h.Name)
			}
			return Contents{}, err
		}
		lines = append(lines, line(h.Name, h.Size, sum.Sum(nil)))
		c.Files++
		c.Bytes += h.Size
	}
	list, err := io.ReadAll(io.LimitReader(t, mostManifest))
	if err != nil {
		return broken("its list of files: %w", err)
	}
	if string(list) != head+strings.Join(lines, "") {
		return broken("its files are not those of its list, or have changed")
	}
	if _, err := t.Next(); err != io.EOF {
		return broken("more comes behind its list of files")
	}
	return c, nil
}

// Restore makes a directory of an archive. It may be there and be empty. Nothing stays of
// an archive that is not whole.
func Restore(dir string, r io.Reader) (Contents, error) {
	dir = filepath.Clean(dir)
	switch entries, err := os.ReadDir(dir); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Contents{}, err
	case len(entries) > 0:
		return Contents{}, fmt.Errorf("%s is not empty", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return Contents{}, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".restoring-*")
	if err != nil {
		return Contents{}, err
	}
	defer os.RemoveAll(tmp) // nothing is there when all went well
	c, err := read(r, func(name string, content io.Reader) error {
		return extract(filepath.Join(tmp, filepath.FromSlash(name)), content)
	})
	if err != nil {
		return Contents{}, err
	}
	if err := syncDirs(tmp); err != nil {
		return Contents{}, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Contents{}, err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return Contents{}, err
	}
	return c, durable.SyncDir(filepath.Dir(dir))
}

// extract writes a file that is not there yet, durably.
func extract(file string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	_, err = io.Copy(f, content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDirs makes the names in a directory and all below it durable.
func syncDirs(dir string) error {
	var all []string
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			all = append(all, file)
		}
		return err
	})
	for _, d := range slices.Backward(all) {
		err = errors.Join(err, durable.SyncDir(d))
	}
	return err
}

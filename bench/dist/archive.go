package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A file is an entry of an archive; one whose mode is a directory's has no data.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// tarball returns a tar of files that belong to a user, root being 0.
func tarball(files []file, at time.Time, owner int) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range sorted(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: at, Uid: owner, Gid: owner, Format: tar.FormatUSTAR}
		if f.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if f.mode.IsDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipBytes is data as gzip -9n has it: without a name and a time.
func gzipBytes(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

func zipArchive(files []file, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		e, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := e.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

func (b *build) extension() string {
	if b.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// archive returns a binary with its documents, all in one folder.
func archive(b *build, docs []file) ([]byte, error) {
	files := []file{{b.name() + "/" + filepath.Base(b.file), 0o755, b.data}}
	for _, f := range docs {
		f.name = b.name() + "/" + f.name
		files = append(files, f)
	}
	if b.os == "windows" {
		return zipArchive(files, b.at)
	}
	data, err := tarball(files, b.at, 0)
	if err != nil {
		return nil, err
	}
	return gzipBytes(data)
}

// checksumsFile is what sha256sum -c reads.
const checksumsFile = "checksums.txt"

type checksum struct{ sum, name string }

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sum writes the checksums of all files in a directory.
func sum(dir string) (n int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(&b, "%s  %s\n", digest(data), e.Name())
	}
	return len(entries), write(dir, checksumsFile, []byte(b.String()))
}

func checksums(dir string) (list []checksum, err error) {
	data, err := os.ReadFile(filepath.Join(dir, checksumsFile))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		sum, name, ok := strings.Cut(lines.Text(), "  ")
		// A name of another directory would have makeRoom remove what is there.
		if !ok || len(sum) != 2*sha256.Size || name == "" || name != filepath.Base(name) {
			return nil, fmt.Errorf("%s has the line %q, which is no checksum", checksumsFile, lines.Text())
		}
		list = append(list, checksum{sum, name})
	}
	return list, lines.Err()
}

// verify compares a directory with its checksums, both ways.
func verify(dir string) (n int, err error) {
	list, err := checksums(dir)
	if err != nil {
		return 0, err
	}
	known := map[string]bool{checksumsFile: true}
	for _, l := range list {
		data, err := os.ReadFile(filepath.Join(dir, l.name))
		if err != nil {
			return 0, err
		}
		if digest(data) != l.sum {
			return 0, fmt.Errorf("%s is not the file that %s is about\nhint: get it again", l.name, checksumsFile)
		}
		known[l.name] = true
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !known[e.Name()] {
			return 0, fmt.Errorf("%s has no line in %s\nhint: it is of no release", e.Name(), checksumsFile)
		}
	}
	return len(list), err
}

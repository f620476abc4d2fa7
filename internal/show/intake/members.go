package intake

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/show/web"
)

// members returns the files of a run, and how to get one of them as it is.
func members(files []string) ([]web.Member, func(string) (io.ReadCloser, error)) {
	var list []web.Member
	at := map[string]func() (io.ReadCloser, error){}
	add := func(n string, size int64, open func() (io.ReadCloser, error)) {
		if _, twice := at[n]; !twice {
			list = append(list, web.Member{Name: n, Bytes: size, What: artifact.MemberNamed(n[strings.LastIndexAny(n, "/:")+1:]).Words})
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

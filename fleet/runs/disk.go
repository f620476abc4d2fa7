package runs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/backup"
	"github.com/gowhy/gowhy/fleet/durable"
)

// Names in the directory.
const (
	recordingEnd = ".gowhy"
	sidecarEnd   = ".json"
	unfinished   = "unfinished-" // begins what may be removed when a store is opened
)

// stem returns the name of a run's files: its ID, and for a tenant a hash of that, whose own
// name may have any bytes.
func stem(r *api.Recording) string {
	if r.Tenant == "" {
		return r.ID
	}
	h := sha256.Sum256([]byte(r.Tenant))
	return r.ID + "-" + hex.EncodeToString(h[:8])
}

var baseForm = regexp.MustCompile(`^[0-9a-f]{64}(-[0-9a-f]{16})?$`)

// receive reads a recording into a file that has no name yet, and is on the disk.
func (s *Store) receive(in io.Reader) (tmp, id string, n int64, err error) {
	f, err := os.CreateTemp(s.dir, unfinished+"*")
	if err != nil {
		return "", "", 0, err
	}
	h := sha256.New()
	n, err = io.Copy(io.MultiWriter(f, h), io.LimitReader(in, s.options.Most+1))
	if err == nil && n > s.options.Most {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrLong, s.options.Most)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return "", "", 0, err
	}
	return f.Name(), hex.EncodeToString(h.Sum(nil)), n, nil
}

// save writes what is known of a run.
func (s *Store) save(r *api.Recording) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, unfinished+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), s.sidecar(r))
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return durable.SyncDir(s.dir)
}

// Backup returns the directory's part of a backup: what is not whole yet is no run.
func (s *Store) Backup(name string) backup.Part {
	return backup.Part{Name: name, Dir: s.dir, Keep: func(file string) bool {
		return !strings.HasPrefix(file, unfinished) && !strings.HasPrefix(file, partBegin)
	}}
}

// mostSidecar bounds what is read of a file that may be another's.
const mostSidecar = 1 << 20

// read reads what is in the directory, and removes what a process left that ended in the
// middle. Files of other names are left alone.
func (s *Store) read() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for _, e := range entries {
		here[e.Name()] = e.Type().IsRegular()
	}
	for _, e := range entries {
		name := e.Name()
		path := filepath.Join(s.dir, name)
		base, isSidecar := strings.CutSuffix(name, sidecarEnd)
		switch {
		case strings.HasPrefix(name, unfinished), isSidecar && baseForm.MatchString(base) && !here[base+recordingEnd]:
			if err := os.Remove(path); err != nil {
				return err
			}
			continue
		case isSidecar || !here[name]:
			continue
		case strings.HasPrefix(name, partBegin):
			if err := s.readPart(name, here); err != nil {
				return err
			}
			continue
		}
		base, ok := strings.CutSuffix(name, recordingEnd)
		if !ok || !baseForm.MatchString(base) {
			continue
		}
		if err := s.readRun(path, base); err != nil {
			return err
		}
	}
	return nil
}

// readRun reads what is known of one, or finds it out again.
func (s *Store) readRun(path, base string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r, ok := readSidecar(filepath.Join(s.dir, base+sidecarEnd))
	if !ok || stem(&r) != base {
		id, tenant, _ := strings.Cut(base, "-")
		if tenant != "" {
			return nil // whose it is only its sidecar knew: better nobody's than another's
		}
		if r, err = describe(path, api.Recording{}); errors.Is(err, ErrFormat) {
			return nil // not ours
		} else if err != nil {
			return err
		}
		r.ID, r.Kept = id, info.ModTime().UTC()
		r.Diagnosis = api.Diagnosis{State: api.Waiting}
		if r.Bytes = info.Size(); s.save(&r) != nil {
			return fmt.Errorf("write what is known of %s", base)
		}
	}
	r.Bytes = info.Size()
	if r.Diagnosis.State == api.Waiting && r.Diagnosis.Tries >= mostTries {
		r.Diagnosis.State, r.Diagnosis.Why = api.Failed, "the server ended while it was diagnosed"
	}
	s.has(&r)
	return nil
}

func readSidecar(path string) (r api.Recording, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return r, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostSidecar))
	return r, err == nil && json.Unmarshal(data, &r) == nil
}

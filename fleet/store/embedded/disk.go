package embedded

import (
	"errors"
	"io"
	"os"
	"syscall"

	"modernc.org/sqlite" // the driver of the catalog
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/gowhy/gowhy/fleet/durable"
)

// noRoom reports whether an error is of a disk that is full.
func noRoom(err error) bool {
	var catalog *sqlite.Error
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.As(err, &catalog) && (catalog.Code() == sqlite3.SQLITE_FULL || catalog.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// A disk is what writes files, so that tests can have one that is full.
type disk interface {
	openFile(path string, flag int) (file, error)
	rename(from, to string) error
	syncDir(path string) error
	remove(path string) error
}

// A file is an [os.File] that is being written.
type file interface {
	io.WriteSeeker
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// osDisk is the operating system's.
type osDisk struct{}

func (osDisk) openFile(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err // not f: a nil *os.File is no nil file
	}
	return f, nil
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) syncDir(path string) error { return durable.SyncDir(path) }

// remove removes a file if it is there.
func (osDisk) remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

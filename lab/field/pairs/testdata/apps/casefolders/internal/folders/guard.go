package folders

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
)

// ErrBusy says that somebody else works on the folder.
var ErrBusy = errors.New("folders: folder is in use")

// guard is the lock that programs of the registry share for a folder.
type guard struct {
	fd int
}

func (c *Cabinet) guard(number int) (*guard, error) {
	path := filepath.Join(c.dir, fmt.Sprintf("case-%04d.lock", number))
	fd, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("folders: %s: %w", path, err)
	}
	err = syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && c.opts.V2 {
		syscall.Close(fd)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, fmt.Errorf("folders: lock %s: %w", path, err)
	}
	return &guard{fd: fd}, nil
}

func (g *guard) release() {
	syscall.Flock(g.fd, syscall.LOCK_UN)
	syscall.Close(g.fd)
}

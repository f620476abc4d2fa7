//go:build unix

package embedded

import (
	"errors"
	"os"
	"syscall"
)

// takeLock locks a file, or reports that another process has it.
func takeLock(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

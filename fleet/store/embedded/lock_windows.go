package embedded

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// takeLock locks a file, or reports that another process has it. It locks a byte far
// behind the text of the file: Windows lets nobody read what is locked.
func takeLock(f *os.File) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{Offset: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

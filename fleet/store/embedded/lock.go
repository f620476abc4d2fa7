package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lock takes a directory for this process alone, until the file is closed. The kernel
// frees it when the process dies, however it does.
func lock(dir string) (*os.File, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	taken, err := takeLock(f)
	if taken {
		err = fmt.Errorf("%s is open in %s (hint: stop that process, or use another directory)", dir, holder(f))
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "process %d (%s)\n", os.Getpid(), filepath.Base(os.Args[0]))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// holder reads from the lock which process wrote it.
func holder(f *os.File) string {
	text := make([]byte, 200)
	n, _ := f.ReadAt(text, 0) // the error is the end of the file
	if who := strings.TrimSpace(string(text[:n])); who != "" {
		return strings.Trim(fmt.Sprintf("%q", who), `"`) // no control characters to a terminal
	}
	return "another process"
}

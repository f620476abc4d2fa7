//go:build !unix

package record

import (
	"io/fs"
	"os"
	"time"
)

// Where there is no Unix only what has a URL is recorded, and little of this is needed.

func selfCPU() time.Duration { return 0 }

func alive(pid int) bool {
	p, err := os.FindProcess(pid) // looks for it, unlike that of Unix
	if err != nil {
		return false
	}
	_ = p.Release() // there is nothing to wait for
	return true
}

func userOf(fs.FileInfo) (uid int, ok bool) { return 0, false }

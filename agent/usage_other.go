//go:build !unix

package agent

import (
	"io/fs"
	"time"
)

func cpuTime() (d time.Duration, ok bool) { return 0, false }

func belongsToUser(fs.FileInfo) bool { return false }

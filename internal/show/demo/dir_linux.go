package demo

import (
	"os"
	"syscall"
)

// scratchSize is the room that a case may need: a thousand jobs at once with
// a file each, and the trace.
const scratchSize = 256 << 20

// scratch returns where the temporary directory is made: in memory where
// there is room, for on a disk that others keep busy every case would be one
// of slow files. "" is the system's choice.
func scratch() string {
	const memory = "/dev/shm"
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &fs) != nil || uint64(fs.Bavail)*uint64(fs.Bsize) < scratchSize {
		return ""
	}
	return memory
}

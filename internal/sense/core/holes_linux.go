package core

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sparse reports whether a file has holes.
func sparse(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Blocks*512 < info.Size()
}

// dataAt returns the first piece between two places of a file that is no hole; both are the end
// where none is.
func dataAt(f *os.File, at, end uint64) (from, to uint64) {
	data, err := unix.Seek(int(f.Fd()), int64(at), unix.SEEK_DATA)
	if err != nil || uint64(data) >= end {
		return end, end
	}
	hole, err := unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE)
	if err != nil {
		return uint64(data), end
	}
	return uint64(data), min(uint64(hole), end)
}

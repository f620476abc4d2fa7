//go:build unix

package exectrace

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps a file for reading. drop gives the pages of a finished piece
// back, so that the resident size does not grow with the trace.
func mapFile(f *os.File, size int64) (data []byte, drop func(from, to int), unmap func() error, err error) {
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, nil, err
	}
	page := os.Getpagesize()
	drop = func(from, to int) {
		from = (from + page - 1) / page * page
		if to = to / page * page; from < to {
			// Advice only: when it fails, the pages merely stay.
			_ = unix.Madvise(data[from:to], unix.MADV_DONTNEED)
		}
	}
	return data, drop, func() error { return unix.Munmap(data) }, nil
}

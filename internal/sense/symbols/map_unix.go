//go:build unix

package symbols

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var errSize = errors.New("a file that cannot be mapped")

// mapFile maps a file for reading; it may be closed then.
func mapFile(f *os.File, size int64) (data []byte, unmap func(), err error) {
	if size <= 0 || size != int64(int(size)) {
		return nil, nil, errSize
	}
	data, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() { unix.Munmap(data) }, nil
}

func idOf(st fs.FileInfo) fileID {
	sys := st.Sys().(*syscall.Stat_t)
	return fileID{uint64(sys.Dev), sys.Ino, st.Size(), st.ModTime().UnixNano()}
}

// forget gives back the pages of a mapped file: to be read again when they are
// needed. Advice only.
func forget(data []byte) {
	if len(data) > 0 {
		_ = unix.Madvise(data, unix.MADV_DONTNEED)
	}
}

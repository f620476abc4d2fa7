//go:build amd64 || arm64

package kernel

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A ring is the memory that the kernel writes the records of one CPU to.
type ring struct {
	fd      int
	mem     []byte
	meta    *unix.PerfEventMmapPage
	data    []byte
	scratch []byte
}

// mapRing maps the ring of an event, with pages of data or as few as minPages
// where the limit on locked memory wants that.
func mapRing(fd, pages int) (*ring, error) {
	const minPages = 8
	size := unix.Getpagesize()
	for {
		mem, err := unix.Mmap(fd, 0, (1+pages)*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			meta := (*unix.PerfEventMmapPage)(unsafe.Pointer(&mem[0]))
			return &ring{fd: fd, mem: mem, meta: meta, data: mem[size:]}, nil
		}
		if pages /= 2; pages < minPages {
			return nil, err
		}
	}
}

// drain calls f with each record that came since the last time.
func (r *ring) drain(f func(rec []byte)) {
	// The kernel's own order: tail is written when the data was read.
	atomic.StoreUint64(&r.meta.Data_tail, r.peek(f))
}

// peek does the same and leaves the records in the ring. It returns the
// position behind them.
func (r *ring) peek(f func(rec []byte)) uint64 {
	head := atomic.LoadUint64(&r.meta.Data_head) // before the data is read
	return walkRing(r.data, r.meta.Data_tail, head, &r.scratch, f)
}

func (r *ring) close() error { return unix.Munmap(r.mem) }

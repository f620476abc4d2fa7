//go:build !386 && !s390x

package load

import (
	"net"
	"syscall"
	"unsafe"
)

// soMeminfo asks a socket for its counters (SO_MEMINFO of Linux 4.12), of
// which the last one is how many packets it had no room for.
const (
	soMeminfo    = 55
	meminfoDrops = 8
)

// dropped returns how many packets came to a socket and were lost in it, because we did not
// read them in time; 0 when the kernel does not tell.
func dropped(c net.Conn) int64 {
	u, ok := c.(*net.UDPConn)
	if !ok {
		return 0
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0
	}
	var counters [meminfoDrops + 1]uint32
	size := uint32(unsafe.Sizeof(counters))
	_ = raw.Control(func(fd uintptr) { // a closed socket has lost nothing that we know of
		_, _, _ = syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.SOL_SOCKET, soMeminfo,
			uintptr(unsafe.Pointer(&counters)), uintptr(unsafe.Pointer(&size)), 0)
	})
	return int64(counters[meminfoDrops])
}

package proc

import (
	"bytes"
	"encoding/binary"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// taskstats asks the kernel for the sums over a process's threads, by generic
// netlink. It needs CAP_NET_ADMIN and the machine's own namespaces of users
// and processes; a nil *taskstats is one that was refused.
type taskstats struct {
	*netlink
	pid int
}

// A netlink is the socket to the kernel: one for all processes.
type netlink struct {
	mu     sync.Mutex
	socket int
	family uint16
	seq    uint32
	buf    []byte
}

// ownNetlink is nil when the kernel does not know the question.
var ownNetlink = sync.OnceValue(openNetlink)

func openTaskstats(pid int) *taskstats {
	n := ownNetlink()
	if n == nil {
		return nil
	}
	t := &taskstats{n, pid}
	if _, ok := t.read(); !ok { // not permitted
		return nil
	}
	return t
}

func openNetlink() *netlink {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_GENERIC)
	if err != nil {
		return nil
	}
	t := &netlink{socket: fd, buf: make([]byte, 4<<10)}
	// The kernel answers within the request; this is for kernels that do not.
	patience := unix.NsecToTimeval(int64(100 * time.Millisecond))
	if unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience) != nil || !t.findFamily() {
		unix.Close(fd)
		return nil
	}
	return t
}

// findFamily asks for the number that taskstats has in this kernel.
func (t *netlink) findFamily() bool {
	name := append([]byte(unix.TASKSTATS_GENL_NAME), 0)
	answer, ok := t.ask(unix.GENL_ID_CTRL, unix.CTRL_CMD_GETFAMILY, unix.CTRL_ATTR_FAMILY_NAME, name)
	id := attribute(answer, unix.CTRL_ATTR_FAMILY_ID)
	if !ok || len(id) < 2 {
		return false
	}
	t.family = binary.NativeEndian.Uint16(id)
	return true
}

func (t *taskstats) read() (count, bool) {
	if t == nil {
		return count{}, false
	}
	pid := binary.NativeEndian.AppendUint32(nil, uint32(t.pid))
	answer, ok := t.ask(t.family, unix.TASKSTATS_CMD_GET, unix.TASKSTATS_CMD_ATTR_TGID, pid)
	if !ok {
		return count{}, false
	}
	return parseTaskstats(attribute(attribute(answer, unix.TASKSTATS_TYPE_AGGR_TGID), unix.TASKSTATS_TYPE_STATS))
}

// parseTaskstats reads a struct taskstats. Versions only append to it.
func parseTaskstats(b []byte) (count, bool) {
	var s unix.Taskstats
	if len(b) < int(unsafe.Offsetof(s.Nivcsw)+unsafe.Sizeof(s.Nivcsw)) {
		return count{}, false
	}
	at := func(offset uintptr) int64 { return number64(b[offset:]) }
	return count{
		runQueue:    time.Duration(at(unsafe.Offsetof(s.Cpu_delay_total))),
		slices:      at(unsafe.Offsetof(s.Cpu_count)),
		voluntary:   at(unsafe.Offsetof(s.Nvcsw)),
		involuntary: at(unsafe.Offsetof(s.Nivcsw)),
	}, true
}

func number64(b []byte) int64 { return max(0, int64(binary.NativeEndian.Uint64(b))) }

// ask sends one command with one attribute and returns the answer's
// attributes.
func (t *netlink) ask(family uint16, command byte, attr uint16, value []byte) ([]byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	if err := unix.Sendto(t.socket, t.message(family, command, attr, value), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, false
	}
	for range 4 { // an answer to a question given up on may come first
		n, _, err := unix.Recvfrom(t.socket, t.buf, 0)
		if err != nil {
			return nil, false
		}
		if body, seq, ok := parseAnswer(t.buf[:n], family); seq == t.seq {
			return bytes.Clone(body), ok
		}
	}
	return nil, false
}

func (t *netlink) message(family uint16, command byte, attr uint16, value []byte) []byte {
	e := binary.NativeEndian
	b := make([]byte, unix.NLMSG_HDRLEN, 64)
	b = append(b, command, 1, 0, 0) // version of the family's commands
	b = e.AppendUint16(b, uint16(unix.NLA_HDRLEN+len(value)))
	b = e.AppendUint16(b, attr)
	b = append(b, value...)
	b = append(b, make([]byte, aligned(len(value))-len(value))...)
	e.PutUint32(b, uint32(len(b)))
	e.PutUint16(b[4:], family)
	e.PutUint16(b[6:], unix.NLM_F_REQUEST)
	e.PutUint32(b[8:], t.seq)
	return b
}

// parseAnswer returns the attributes of a message of the family; ok is false
// for an error message.
func parseAnswer(b []byte, family uint16) (body []byte, seq uint32, ok bool) {
	const head = unix.NLMSG_HDRLEN + unix.GENL_HDRLEN
	if len(b) < head {
		return nil, 0, false
	}
	e := binary.NativeEndian
	seq = e.Uint32(b[8:])
	size := int(e.Uint32(b))
	if e.Uint16(b[4:]) != family || size < head || size > len(b) {
		return nil, seq, false
	}
	return b[head:size], seq, true
}

// attribute returns the value of the first attribute of a type.
func attribute(b []byte, typ uint16) []byte {
	for len(b) >= unix.NLA_HDRLEN {
		size := int(binary.NativeEndian.Uint16(b))
		if size < unix.NLA_HDRLEN || size > len(b) {
			return nil
		}
		if binary.NativeEndian.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER) == typ {
			return b[unix.NLA_HDRLEN:size]
		}
		b = b[min(aligned(size), len(b)):]
	}
	return nil
}

func aligned(n int) int { return (n + unix.NLA_ALIGNTO - 1) &^ (unix.NLA_ALIGNTO - 1) }

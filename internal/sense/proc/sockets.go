package proc

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Listening returns the TCP addresses at which a process or one of its
// descendants listens, in a form to dial: "127.0.0.1:6060". A program is often
// started by a shell or by `go run`, so its own sockets are not enough.
// Processes that have ended have none, nor do those of other users, whose
// sockets are not shown.
func Listening(pid int) ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	return listening("/proc", pid)
}

func listening(proc string, pid int) ([]string, error) {
	family, err := descendants(proc, pid)
	if err != nil {
		return nil, err
	}
	var addrs []string
	t := sockets{proc: proc}
	for _, p := range family {
		addrs = append(addrs, t.of(p)...)
	}
	slices.Sort(addrs)
	return slices.Compact(addrs), nil
}

// Owners returns the processes that listen at a TCP port in our network
// namespace, by id, as far as they may be looked at.
func Owners(port uint16) ([]int, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	return owners("/proc", port)
}

func owners(proc string, port uint16) (list []int, err error) {
	pids, err := processes(proc)
	if err != nil {
		return nil, err
	}
	at := map[string][]string{}
	for _, name := range []string{"tcp", "tcp6"} {
		if text, err := readLimited(filepath.Join(proc, "self/net", name)); err == nil {
			listeners(text, at)
		}
	}
	suffix := ":" + strconv.Itoa(int(port))
	for _, pid := range pids {
		inodes := socketInodes(filepath.Join(proc, strconv.Itoa(pid), "fd"))
		if slices.ContainsFunc(inodes, func(inode string) bool {
			return slices.ContainsFunc(at[inode], func(a string) bool { return strings.HasSuffix(a, suffix) })
		}) {
			list = append(list, pid)
		}
	}
	return list, nil
}

// descendants returns pid and all processes that come from it.
func descendants(proc string, pid int) ([]int, error) {
	pids, err := processes(proc)
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, p := range pids {
		text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(p), "stat"))
		if err != nil {
			continue
		}
		if st, err := parseStat(text); err == nil {
			children[st.parent] = append(children[st.parent], p)
		}
	}
	family := []int{pid}
	for i := 0; i < len(family) && i <= len(pids); i++ {
		family = append(family, children[family[i]]...)
	}
	return family, nil
}

// processes returns the ids of all processes.
func processes(proc string) (pids []int, err error) {
	dir, err := os.Open(proc)
	if err != nil {
		return nil, fmt.Errorf("this system has no %s", proc)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

// sockets finds who listens where. The kernel's tables hold every connection
// of a network namespace, so each is read once.
type sockets struct {
	proc   string
	tables map[string]map[string][]string // by namespace and inode: addresses
}

// of returns the addresses at which one process listens, sorted.
func (s *sockets) of(pid int) (addrs []string) {
	inodes := socketInodes(filepath.Join(s.proc, strconv.Itoa(pid), "fd"))
	if len(inodes) == 0 {
		return nil
	}
	table := s.table(pid)
	for _, inode := range inodes {
		addrs = append(addrs, table[inode]...)
	}
	slices.Sort(addrs)
	return slices.Compact(addrs)
}

// table returns the listeners of the network namespace that a process is in.
func (s *sockets) table(pid int) map[string][]string {
	dir := filepath.Join(s.proc, strconv.Itoa(pid))
	namespace, err := os.Readlink(filepath.Join(dir, "ns/net"))
	if err != nil {
		namespace = strconv.Itoa(pid) // not shown: as if it were its own
	}
	if t, ok := s.tables[namespace]; ok {
		return t
	}
	t := map[string][]string{}
	for _, name := range []string{"tcp", "tcp6"} {
		if text, err := readLimited(filepath.Join(dir, "net", name)); err == nil {
			listeners(text, t)
		}
	}
	if s.tables == nil {
		s.tables = map[string]map[string][]string{}
	}
	s.tables[namespace] = t
	return t
}

// Bounds on what is read of one process.
const (
	maxTable = 64 << 20 // bytes of a socket table: 400,000 connections
	maxFiles = 100_000  // open files of a process
)

func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxTable))
}

// socketInodes returns the inodes of the sockets among open files.
func socketInodes(path string) (inodes []string) {
	dir, err := os.Open(path)
	if err != nil {
		return nil // another user's, or gone
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxFiles)
	for _, name := range names {
		target, err := os.Readlink(filepath.Join(path, name))
		if inode, ok := strings.CutPrefix(target, "socket:["); ok && err == nil {
			inodes = append(inodes, strings.TrimSuffix(inode, "]"))
		}
	}
	return inodes
}

const tcpListen = "0A" // the state's number in the kernel's tables

// listeners adds the addresses of a kernel table that listen, by inode.
func listeners(text []byte, table map[string][]string) {
	for line := range lines(text) {
		f := bytes.Fields(line)
		if len(f) < 10 || string(f[3]) != tcpListen {
			continue
		}
		if a, ok := dialable(string(f[1])); ok {
			table[string(f[9])] = append(table[string(f[9])], a)
		}
	}
}

// dialable turns the kernel's notation, hexadecimal 32-bit words in the
// machine's order (little-endian wherever Go's tracer is used on Linux) and a
// port, into an address to dial.
func dialable(s string) (string, bool) {
	host, port, ok := strings.Cut(s, ":")
	raw, err := hex.DecodeString(host)
	if !ok || err != nil || len(raw)%4 != 0 {
		return "", false
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	ip, ok := netip.AddrFromSlice(raw)
	n, err := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil {
		return "", false
	}
	ip = ip.Unmap()
	if ip.IsUnspecified() {
		if ip = netip.AddrFrom4([4]byte{127, 0, 0, 1}); len(raw) == 16 {
			return net.JoinHostPort("localhost", strconv.FormatUint(n, 10)), true
		}
	}
	return net.JoinHostPort(ip.String(), strconv.FormatUint(n, 10)), true
}

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
	pids, err := Processes(proc)
	if err != nil {
		return nil, err
	}
	var held []string
	for _, s := range Listeners(filepath.Join(proc, "self/net"), "tcp") {
		if s.At.Port() == port {
			held = append(held, s.Inode)
		}
	}
	for _, pid := range pids {
		inodes := SocketInodes(filepath.Join(proc, strconv.Itoa(pid), "fd"))
		if slices.ContainsFunc(inodes, func(inode string) bool { return slices.Contains(held, inode) }) {
			list = append(list, pid)
		}
	}
	return list, nil
}

// descendants returns pid and all processes that come from it.
func descendants(proc string, pid int) ([]int, error) {
	pids, err := Processes(proc)
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

// Processes returns the ids of all processes, from a directory like /proc.
func Processes(proc string) (pids []int, err error) {
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
	inodes := SocketInodes(filepath.Join(s.proc, strconv.Itoa(pid), "fd"))
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
	for _, l := range Listeners(filepath.Join(dir, "net"), "tcp") {
		t[l.Inode] = append(t[l.Inode], dialable(l.At))
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

// SocketInodes returns the inodes of the sockets among the open files of a process, from a
// directory like /proc/1/fd; none where that may not be read.
func SocketInodes(path string) (inodes []string) {
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

// A Socket listens, or for UDP, receives.
type Socket struct {
	Network string // "tcp" or "udp"
	At      netip.AddrPort
	Inode   string
}

// waiting are the states of sockets that wait for anybody, by their numbers in the kernel's
// tables: TCP_LISTEN, and TCP_CLOSE, which a UDP socket without a peer has.
var waiting = map[string]string{"tcp": "0A", "udp": "07"}

// Listeners returns the sockets of networks that wait for anybody, from the tables in a
// directory like /proc/self/net.
func Listeners(dir string, networks ...string) (list []Socket) {
	for _, network := range networks {
		for _, file := range []string{network, network + "6"} {
			if text, err := readLimited(filepath.Join(dir, file)); err == nil {
				list = append(list, listeners(text, network)...)
			}
		}
	}
	return list
}

func listeners(text []byte, network string) (list []Socket) {
	for line := range lines(text) {
		f := bytes.Fields(line)
		if len(f) < 10 || string(f[3]) != waiting[network] {
			continue
		}
		if at, ok := address(string(f[1])); ok && at.Port() != 0 {
			list = append(list, Socket{network, at, string(f[9])})
		}
	}
	return list
}

// address reads the kernel's notation: hexadecimal words of 32 bits in the machine's order,
// little-endian wherever Go's tracer is used on Linux, and a port.
func address(s string) (a netip.AddrPort, ok bool) {
	host, port, _ := strings.Cut(s, ":")
	raw, err := hex.DecodeString(host)
	n, perr := strconv.ParseUint(port, 16, 16)
	if err != nil || perr != nil || len(raw)%4 != 0 {
		return a, false
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	ip, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)), ok
}

// dialable returns an address to dial for one that is listened at.
func dialable(at netip.AddrPort) string {
	host := at.Addr().String()
	switch {
	case at.Addr().IsUnspecified() && at.Addr().Is4():
		host = "127.0.0.1"
	case at.Addr().IsUnspecified():
		host = "localhost"
	}
	return net.JoinHostPort(host, strconv.Itoa(int(at.Port())))
}

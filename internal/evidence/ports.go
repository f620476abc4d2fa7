package evidence

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listening returns the TCP addresses at which a process or one of its
// descendants listens, in a form to dial. proc is the mount point of Linux's
// process file system; where there is none, it is an error.
func listening(proc string, pid int) ([]string, error) {
	family, err := descendants(proc, pid)
	if err != nil {
		return nil, err
	}
	sockets := map[string]bool{}
	for _, p := range family {
		addSockets(sockets, filepath.Join(proc, strconv.Itoa(p), "fd"))
	}
	if len(sockets) == 0 {
		return nil, nil
	}
	var addrs []string
	for _, table := range []string{"tcp", "tcp6"} {
		// Of the process itself: it may live in another network namespace.
		text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "net", table))
		if err == nil {
			addrs = append(addrs, listeners(text, sockets)...)
		}
	}
	slices.Sort(addrs)
	return slices.Compact(addrs), nil
}

// descendants returns pid and all processes that come from it: a program is
// often started by a shell or by `go run`.
func descendants(proc string, pid int) ([]int, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("this system has no %s", proc)
	}
	children := map[int][]int{}
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if stat, err := os.ReadFile(filepath.Join(proc, e.Name(), "stat")); err == nil {
			parent := parentOf(stat)
			children[parent] = append(children[parent], p)
		}
	}
	family := []int{pid}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i]]...)
	}
	return family, nil
}

// parentOf reads the parent's id from a stat line. The command's name comes
// before it in parentheses and may hold anything, parentheses included.
func parentOf(stat []byte) int {
	i := bytes.LastIndexByte(stat, ')')
	if i < 0 {
		return 0
	}
	fields := bytes.Fields(stat[i+1:])
	if len(fields) < 2 {
		return 0
	}
	p, _ := strconv.Atoi(string(fields[1]))
	return p
}

// addSockets collects the inodes of the sockets among open files.
func addSockets(inodes map[string]bool, dir string) {
	fds, err := os.ReadDir(dir)
	if err != nil {
		return // another user's, or gone
	}
	for _, fd := range fds {
		target, err := os.Readlink(filepath.Join(dir, fd.Name()))
		if err == nil && strings.HasPrefix(target, "socket:[") {
			inodes[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
		}
	}
}

const tcpListen = "0A" // the state's number in the kernel's tables

// listeners returns the addresses of a kernel table that listen and belong to
// one of the sockets.
func listeners(table []byte, sockets map[string]bool) []string {
	var addrs []string
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[3] != tcpListen || !sockets[f[9]] {
			continue
		}
		if a, ok := dialable(f[1]); ok {
			addrs = append(addrs, a)
		}
	}
	return addrs
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

package subject

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A server that somebody left running can hold the port, alone or, through
// SO_REUSEPORT, together with the one that is measured; then a share of the
// answers is the other's, and nothing fails. So every socket at which the
// program listens must be its own alone, of TCP and of UDP.

// A socket listens, or for UDP, receives.
type socket struct {
	network string // "tcp" or "udp"
	at      netip.AddrPort
	inode   string
}

// maxTable bounds what is read of one of the kernel's tables.
const maxTable = 64 << 20

// listeners are all sockets of our network namespace that wait for anybody.
func listeners(root string) (list []socket) {
	for _, t := range []struct{ file, network, state string }{
		// Numbers of TCP_LISTEN and TCP_CLOSE; the latter is that of a UDP socket
		// without a peer.
		{"tcp", "tcp", "0A"}, {"tcp6", "tcp", "0A"}, {"udp", "udp", "07"}, {"udp6", "udp", "07"},
	} {
		text, err := readLimited(filepath.Join(root, "self/net", t.file), maxTable)
		if err != nil {
			continue
		}
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			f := bytes.Fields(line)
			if len(f) < 10 || string(f[3]) != t.state {
				continue
			}
			if at, ok := address(string(f[1])); ok && at.Port() != 0 {
				list = append(list, socket{t.network, at, string(f[9])})
			}
		}
	}
	return list
}

func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// address reads the kernel's notation: hexadecimal words of 32 bits in the
// machine's order, little-endian wherever Go is measured on Linux, and a port.
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

// meets reports whether what is sent to one socket could arrive at the other.
func (s socket) meets(t socket) bool {
	return s.network == t.network && s.at.Port() == t.at.Port() && overlap(s.at.Addr(), t.at.Addr())
}

func overlap(a, b netip.Addr) bool {
	// A socket at [::] takes IPv4 as well, unless it is set not to.
	return a == b || a.IsUnspecified() || b.IsUnspecified()
}

// holders are the processes that have a socket open, by its inode, as far as
// they may be looked at.
func holders(root string) map[string][]int {
	by := map[string][]int{}
	for _, pid := range processes(root) {
		for _, inode := range inodes(filepath.Join(root, strconv.Itoa(pid), "fd")) {
			if !slices.Contains(by[inode], pid) {
				by[inode] = append(by[inode], pid)
			}
		}
	}
	return by
}

// maxFiles bounds the open files of one process that are looked at.
const maxFiles = 100_000

func inodes(path string) (list []string) {
	dir, err := os.Open(path)
	if err != nil {
		return nil // another user's, or gone
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxFiles)
	for _, n := range names {
		target, err := os.Readlink(filepath.Join(path, n))
		if inode, ok := strings.CutPrefix(target, "socket:["); ok && err == nil {
			list = append(list, strings.TrimSuffix(inode, "]"))
		}
	}
	return list
}

// A claim is what a process holds.
type claim struct {
	socket
	pid int // 0 when it is another user's and not shown
}

func (c claim) holder(root string) string {
	if c.pid == 0 {
		return "another user's process"
	}
	return fmt.Sprintf("process %d (%s)", c.pid, name(root, c.pid))
}

// claims divides the listening sockets into those of a family and those of
// others that meet one of them or, if given, an address.
func claims(root string, f family, targets []netip.AddrPort) (own []socket, foreign []claim) {
	by := holders(root)
	all := listeners(root)
	for _, s := range all {
		if slices.ContainsFunc(by[s.inode], f.has) {
			own = append(own, s)
		}
	}
	wanted := slices.Clone(own)
	for _, t := range targets {
		wanted = append(wanted, socket{network: "tcp", at: t})
	}
	for _, s := range all {
		if !slices.ContainsFunc(wanted, s.meets) {
			continue
		}
		strangers := slices.DeleteFunc(slices.Clone(by[s.inode]), f.has)
		for _, pid := range strangers {
			foreign = append(foreign, claim{s, pid})
		}
		if len(by[s.inode]) == 0 {
			foreign = append(foreign, claim{socket: s})
		}
	}
	return own, foreign
}

// checkFree says who holds the port that a program is about to open.
func checkFree(root string, targets []netip.AddrPort) error {
	_, foreign := claims(root, nil, targets)
	if len(foreign) == 0 {
		return nil
	}
	c := foreign[0]
	return problem.New(problem.Failure, endHint(c), "port %d is held by %s: it would be measured instead", c.at.Port(), c.holder(root))
}

func endHint(c claim) string {
	if c.pid == 0 {
		return fmt.Sprintf("sudo ss -lnp 'sport = :%d'   # tells whose it is; or take another port", c.at.Port())
	}
	return fmt.Sprintf("kill %d   # or take another port", c.pid)
}

// checkOwn makes sure that what answers is the program that was started.
func checkOwn(root string, leader int, p Program, targets []netip.AddrPort) error {
	f := readFamily(root, leader)
	own, foreign := claims(root, f, targets)
	reached := len(targets) == 0 || slices.ContainsFunc(targets, func(t netip.AddrPort) bool {
		return slices.ContainsFunc(own, socket{network: "tcp", at: t}.meets)
	})
	switch {
	case len(foreign) > 0 && reached:
		c := foreign[0]
		return problem.New(problem.Failure, endHint(c), "%s port %d of %s is shared with %s, which would answer a part of the load", strings.ToUpper(c.network), c.at.Port(), p.shown(), c.holder(root))
	case len(foreign) > 0:
		c := foreign[0]
		return problem.New(problem.Failure, endHint(c), "port %d is answered by %s, which %s did not start: it would be measured instead", c.at.Port(), c.holder(root), p.shown())
	case !reached:
		return problem.New(problem.Failure, "start the program itself, not a client of a service that runs it", "something answers at port %d, but %s does not listen there", targets[0].Port(), p.shown())
	}
	return nil
}

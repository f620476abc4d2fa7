package subject

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// A server that somebody left running can hold the port, alone or, through
// SO_REUSEPORT, together with the one that is measured; then a share of the
// answers is the other's, and nothing fails. So every socket at which the
// program listens must be its own alone, of TCP and of UDP.

func readLimited(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// meets reports whether what is sent to one of the sockets could arrive at another.
func meets(wanted []proc.Socket, s proc.Socket) bool {
	return slices.ContainsFunc(wanted, func(w proc.Socket) bool {
		return s.Network == w.Network && s.At.Port() == w.At.Port() && overlap(s.At.Addr(), w.At.Addr())
	})
}

func overlap(a, b netip.Addr) bool {
	// A socket at [::] takes IPv4 as well, unless it is set not to.
	return a == b || a.IsUnspecified() || b.IsUnspecified()
}

// holders returns the processes that have a socket open, by its inode, as far as
// they may be looked at.
func holders(root string) map[string][]int {
	by := map[string][]int{}
	pids, _ := proc.Processes(root)
	for _, pid := range pids {
		for _, inode := range proc.SocketInodes(filepath.Join(root, strconv.Itoa(pid), "fd")) {
			if !slices.Contains(by[inode], pid) {
				by[inode] = append(by[inode], pid)
			}
		}
	}
	return by
}

// A claim is what a process holds.
type claim struct {
	proc.Socket
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
func claims(root string, f family, targets []netip.AddrPort) (own []proc.Socket, foreign []claim) {
	by := holders(root)
	all := proc.Listeners(filepath.Join(root, "self/net"), "tcp", "udp")
	for _, s := range all {
		if slices.ContainsFunc(by[s.Inode], f.has) {
			own = append(own, s)
		}
	}
	wanted := slices.Clone(own)
	for _, t := range targets {
		wanted = append(wanted, proc.Socket{Network: "tcp", At: t})
	}
	for _, s := range all {
		if !meets(wanted, s) {
			continue
		}
		strangers := slices.DeleteFunc(slices.Clone(by[s.Inode]), f.has)
		for _, pid := range strangers {
			foreign = append(foreign, claim{s, pid})
		}
		if len(by[s.Inode]) == 0 {
			foreign = append(foreign, claim{Socket: s})
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
	return problem.New(problem.Failure, endHint(c), "port %d is held by %s: it would be measured instead", c.At.Port(), c.holder(root))
}

func endHint(c claim) string {
	if c.pid == 0 {
		return fmt.Sprintf("sudo ss -lnp 'sport = :%d'   # tells whose it is; or take another port", c.At.Port())
	}
	return fmt.Sprintf("kill %d   # or take another port", c.pid)
}

// checkOwn makes sure that what answers is the program that was started.
func checkOwn(root string, leader int, p Program, targets []netip.AddrPort) error {
	f := readFamily(root, leader)
	own, foreign := claims(root, f, targets)
	reached := len(targets) == 0 || slices.ContainsFunc(targets, func(t netip.AddrPort) bool {
		return meets(own, proc.Socket{Network: "tcp", At: t})
	})
	switch {
	case len(foreign) > 0 && reached:
		c := foreign[0]
		return problem.New(problem.Failure, endHint(c), "%s port %d of %s is shared with %s, which would answer a part of the load", strings.ToUpper(c.Network), c.At.Port(), p.displayCommand(), c.holder(root))
	case len(foreign) > 0:
		c := foreign[0]
		return problem.New(problem.Failure, endHint(c), "port %d is answered by %s, which %s did not start: it would be measured instead", c.At.Port(), c.holder(root), p.displayCommand())
	case !reached:
		return problem.New(problem.Failure, "start the program itself, not a client of a service that runs it", "something answers at port %d, but %s does not listen there", targets[0].Port(), p.displayCommand())
	}
	return nil
}

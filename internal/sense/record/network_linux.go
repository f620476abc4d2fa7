package record

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// apart reports whether a process has a network of its own, as in a container: its
// 127.0.0.1 is not ours, and at its port here another program may listen.
func apart(pid int) bool {
	theirs, err := os.Readlink(networkOf(pid))
	if err != nil {
		return false // not shown: it is looked for here, as ever
	}
	ours, err := os.Readlink("/proc/self/ns/net")
	return err == nil && ours != theirs
}

func networkOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/ns/net" }

// networkClient talks to ports in the network of a process.
func networkClient(pid int) *http.Client {
	c := localClient()
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		err = inNetwork(pid, func() error {
			d := net.Dialer{Timeout: 5 * time.Second}
			c, err = d.DialContext(ctx, network, addr)
			return err
		})
		return c, err
	}
	return c
}

// inNetwork does something while the thread is in the network of a process: a socket
// stays in the one that it was made in. It needs root.
func inNetwork(pid int, do func() error) error {
	theirs, err := os.Open(networkOf(pid))
	if err != nil {
		return err
	}
	defer theirs.Close()
	ours, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return err
	}
	defer ours.Close()
	done := make(chan error, 1)
	go func() {
		// A thread that does not find back is not used again: it ends with its goroutine.
		runtime.LockOSThread()
		if err := unix.Setns(int(theirs.Fd()), unix.CLONE_NEWNET); err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("cannot enter the network of process %d: %w", pid, err)
			return
		}
		err := do()
		if unix.Setns(int(ours.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

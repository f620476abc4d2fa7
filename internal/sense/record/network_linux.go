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
	ours, err := os.Readlink(threadNetwork)
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
	done := make(chan error)
	go func() { done <- onOtherThread(func() error { return visit(theirs, do) }) }()
	return <-done
}

// onOtherThread does something on a thread that is the caller's goroutine's alone, and
// not the process's first: what is read at /proc/self is about that one.
func onOtherThread(do func() error) error {
	runtime.LockOSThread()
	if unix.Gettid() != os.Getpid() {
		return do() // which unlocks it
	}
	defer runtime.UnlockOSThread()
	done := make(chan error)
	go func() { // cannot run here while this waits
		runtime.LockOSThread()
		done <- do()
	}()
	return <-done
}

// visit has the thread, which the goroutine has locked, enter a network and come back. One
// that does not find back stays locked, and so ends with its goroutine.
func visit(network *os.File, do func() error) error {
	home, err := os.Open(threadNetwork)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer home.Close()
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("cannot enter the network of another process: %w", err)
	}
	err = do()
	if unix.Setns(int(home.Fd()), unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread()
	}
	return err
}

// threadNetwork is the network of the thread that asks.
const threadNetwork = "/proc/thread-self/ns/net"

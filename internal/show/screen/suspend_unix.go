//go:build unix

package screen

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
)

// suspend gives the terminal back and stops as Ctrl+Z stops any program, until the
// shell goes on with it.
func suspend(s tcell.Screen) error {
	if err := s.Suspend(); err != nil {
		return err
	}
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	// The whole group, as the terminal would: sudo waits for its own part of it.
	if err := syscall.Kill(0, syscall.SIGTSTP); err == nil {
		select {
		case <-on:
		case <-time.After(unstopped):
		}
	}
	return s.Resume()
}

// unstopped is after how long nothing has stopped us: the kernel does not stop a
// group that has no shell to go on with it.
const unstopped = 300 * time.Millisecond

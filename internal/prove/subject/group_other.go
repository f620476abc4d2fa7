//go:build !unix

package subject

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Where there is no Unix the command line refuses to measure programs: there are no
// groups of processes to end what a program leaves behind. Tools like git still run.

func ownGroup() *syscall.SysProcAttr { return nil }

func awaitEnd(int) bool { return false }

func signalGroup(pid int, _ syscall.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return errors.Join(p.Kill(), p.Release())
}

func usageOf(*os.ProcessState) usage { return usage{} }

func childrenCPU() time.Duration { return 0 }

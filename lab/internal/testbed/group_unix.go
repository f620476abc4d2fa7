//go:build unix

package testbed

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a process group of its own, with everything that
// it will start.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends all of a group that are left.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) } // none may be left

//go:build !unix

package testbed

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

// killGroup ends the process; what it started is out of reach here.
func killGroup(leader *os.Process) { _ = leader.Kill() }

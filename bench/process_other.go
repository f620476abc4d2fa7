//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// startPinned starts cmd. Only Linux can pin a process; elsewhere GOMAXPROCS
// alone holds it to about one core.
func startPinned(cmd *exec.Cmd, oneCore bool) error { return cmd.Start() }

func maxRSS(*os.ProcessState) int64     { return 0 }
func peakOf(string) int64               { return 0 }
func machineCPU() time.Duration         { return -1 }
func lookAt(int) (look, error)          { return look{}, errors.ErrUnsupported }
func ownCPU() (time.Duration, error)    { return 0, errors.ErrUnsupported }
func hardware() (cpu string, mem int64) { return "", 0 }
func stopProcess(*os.Process) error     { return errors.ErrUnsupported }
func continueProcess(*os.Process) error { return errors.ErrUnsupported }

func runAlone(context.Context, []string, io.Writer, io.Writer) error { return errNotAlone }

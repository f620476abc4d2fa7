package corpus

import (
	_ "embed"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// judge is this file: a recording that another judge found fit is made anew.
//
//go:embed fit.go
var judge []byte

// An Unfit error says that a recording shows what else the machine did.
type Unfit struct {
	Others  float64       // the share of the processors that other programs had
	Starved time.Duration // what the threads waited for one, all together
}

func (e *Unfit) Error() string {
	return fmt.Sprintf("a recording is unfit: other programs had %.0f%% of the processors, and its threads waited %v for one", 100*e.Others, e.Starved)
}

const (
	// disturbed is how much of the machine others may have, or how much of the
	// time threads may wait: a quiet machine is below a twentieth of either.
	disturbed = 0.1
	// tick is the kernel's, in /proc/stat.
	tick = 10 * time.Millisecond
)

// A machine is what its processors did, together, since it was started.
type machine struct{ busy, all time.Duration }

// machineNow is zero where the system does not say.
func machineNow() (m machine) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return m
	}
	const idle, ioWait, steal = 4, 5, 8 // columns; those after it are counted before
	first, _, _ := strings.Cut(string(text), "\n")
	for i, f := range strings.Fields(first) {
		if i == 0 || i > steal {
			continue
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return machine{}
		}
		m.all += time.Duration(n) * tick
		if i != idle && i != ioWait {
			m.busy += time.Duration(n) * tick
		}
	}
	return m
}

// fit judges a recording by the CPU time that a program had of the machine's,
// which is in whole ticks, one at either end, and by how long its threads were
// starved. Either will do: others may have processors that it has no use for,
// and the threads of a program with more Ps than there are starve each other.
func fit(before, after machine, own, starved time.Duration) error {
	all, others := after.all-before.all, after.busy-before.busy-own
	if others <= time.Duration(disturbed*float64(all))+2*tick {
		return nil
	}
	if wall := all / time.Duration(runtime.NumCPU()); starved <= time.Duration(disturbed*float64(wall)) {
		return nil
	}
	return &Unfit{others.Seconds() / all.Seconds(), starved}
}

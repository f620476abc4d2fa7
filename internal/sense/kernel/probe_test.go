//go:build linux && (amd64 || arm64)

package kernel

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestProbes asks the kernel's verifier about each program.
func TestProbes(t *testing.T) {
	attempt.Only(t, "loads programs into the kernel, which takes root")
	if os.Geteuid() != 0 {
		t.Skip("eBPF programs take root")
	}
	for _, target := range []target{{pid: int32(os.Getpid())}, {pid: 1, namespace: true, dev: 4, ino: initNamespace}} {
		p, err := newProbes(target)
		if err != nil {
			t.Skipf("no eBPF here: %v", err)
		}
		defer p.close()
		if err := p.watchCalls(os.Getpid(), false); err != nil {
			t.Errorf("watchCalls() = %v, want nil", err)
		}
		if err := p.watchSwitches(os.Getpid(), false); err != nil {
			t.Errorf("watchSwitches() = %v, want nil", err)
		}
		if f, err := loadFilter(target); err != nil {
			t.Errorf("loadFilter() = %+v, want nil", err)
		} else {
			f.Close()
		}
	}
}

// TestShareOut gives the switches without a stack to those with one, of the
// same class only, and keeps the sums.
func TestShareOut(t *testing.T) {
	key := func(user int32, name byte, flags byte) (k sumKey) {
		kernel := int32(7)
		if user == noStack {
			kernel = noStack
		}
		binary.NativeEndian.PutUint32(k[waitKernelAt-waitKeyAt:], uint32(kernel))
		binary.NativeEndian.PutUint32(k[waitUserAt-waitKeyAt:], uint32(user))
		k[waitNameAt-waitKeyAt] = name
		k[waitFlagsAt-waitKeyAt] = flags
		return k
	}
	a, b := key(1, 'x', 0), key(2, 'x', 0)
	preempted, carried := key(1, 'x', waitPreempted), key(3, 'x', waitCarried)
	alone := key(noStack, 'y', 0)
	sums := map[sumKey]*[2]float64{
		a: {10, 100}, b: {30, 900}, preempted: {6, 6}, carried: {0, 7}, alone: {8, 8},
		key(noStack, 'x', 0): {40, 1000}, key(noStack, 'x', waitCarried): {0, 14},
	}
	shareOut(sums)
	want := map[sumKey][2]float64{a: {20, 200}, b: {60, 1800}, preempted: {6, 6}, carried: {0, 21}, alone: {8, 8}}
	for k, want := range want {
		if got := sums[k]; got == nil || *got != want {
			t.Errorf("%v: got %v, want %v", k, got, want)
		}
	}
	if len(sums) != len(want) {
		t.Errorf("%d sums, want %d", len(sums), len(want))
	}
}

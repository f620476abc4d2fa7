//go:build linux && (amd64 || arm64)

package kernel

import (
	"encoding/binary"
	"os"
	"testing"
)

// TestProbes asks the kernel's verifier about each program.
func TestProbes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("eBPF programs take root")
	}
	for _, target := range []target{{pid: int32(os.Getpid())}, {pid: 1, namespace: true, dev: 4, ino: initNamespace}} {
		p, err := newProbes()
		if err != nil {
			t.Skipf("no eBPF here: %v", err)
		}
		defer p.close()
		if err := p.watchCalls(target); err != nil {
			t.Errorf("system calls: %+v", err)
		}
		for _, calls := range []bool{true, false} {
			if err := p.watchSwitches(target, calls); err != nil {
				t.Errorf("switches, with calls %v: %+v", calls, err)
			}
		}
		if f, err := loadFilter(target); err != nil {
			t.Errorf("filter: %+v", err)
		} else {
			f.Close()
		}
	}
}

// TestShareOut gives the switches without a stack to those with one, of the
// same class only, and keeps the sums.
func TestShareOut(t *testing.T) {
	key := func(kernel, user int32, name byte, preempted byte) (k [sumKeySize]byte) {
		binary.NativeEndian.PutUint32(k[waitKernelAt-waitKeyAt:], uint32(kernel))
		binary.NativeEndian.PutUint32(k[waitUserAt-waitKeyAt:], uint32(user))
		k[waitNameAt-waitKeyAt] = name
		k[waitPreemptedAt-waitKeyAt] = preempted
		return k
	}
	const read, write = inCallBase - 0, inCallBase - 1
	a, b := key(read, 1, 'x', 0), key(read, 2, 'x', 0)
	other, preempted, stack := key(write, 1, 'x', 0), key(read, 1, 'x', 1), key(7, 1, 'x', 0)
	alone := key(read, noStack, 'y', 0)
	sums := map[[sumKeySize]byte]*[2]uint64{
		a: {10, 100}, b: {30, 900}, other: {5, 5}, preempted: {6, 6}, stack: {7, 7},
		key(read, noStack, 'x', 0): {41, 1001}, alone: {8, 8},
		key(noStack, noStack, 'x', 0): {3, 3},
	}
	shareOut(sums)
	for k, want := range map[[sumKeySize]byte][2]uint64{
		a: {20, 200}, b: {61, 1801}, other: {5, 5}, preempted: {6, 6}, stack: {10, 10}, alone: {8, 8},
	} {
		if got := sums[k]; got == nil || *got != want {
			t.Errorf("%v: got %v, want %v", k, got, want)
		}
	}
	if len(sums) != 6 {
		t.Errorf("%d sums", len(sums))
	}
}

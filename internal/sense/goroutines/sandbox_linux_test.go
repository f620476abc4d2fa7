package goroutines

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sandboxed names the process that the test in the sandbox reads, and the error of the call that it is refused.
const sandboxed = "GOWHY_TEST_SANDBOXED"

// TestSandbox reads a program where the kernel refuses process_vm_readv, as containers' default filters do.
func TestSandbox(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	s := start(t, build(t, "local", source(t, "program")), "-each", "5")
	for name, refusal := range map[string]unix.Errno{"no such call": unix.ENOSYS, "not permitted": unix.EPERM} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestInSandbox$", "-test.v")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", sandboxed, s.pid, refusal))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "--- PASS: TestInSandbox") {
				t.Errorf("in the sandbox: %v\n%s", err, out)
			}
		})
	}
}

// TestInSandbox is run by TestSandbox, in a process of its own: the filter stays.
func TestInSandbox(t *testing.T) {
	pid, refusal := 0, unix.Errno(0)
	if n, _ := fmt.Sscan(os.Getenv(sandboxed), &pid, (*uintptr)(&refusal)); n != 2 {
		t.Skip("no sandbox")
	}
	if err := refuse(unix.SYS_PROCESS_VM_READV, refusal); err != nil {
		t.Fatal(err)
	}
	var b [8]byte
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	if _, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 4096, Len: 8}}, 0); err != refusal {
		t.Fatalf("process_vm_readv says %v, want %v", err, refusal)
	}
	r, err := Open(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Stacks = true
	got, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	const want = 5*7 + 3 // of each kind, what accepts and reads, and main
	if got.Count != want {
		t.Errorf("%d goroutines, want %d", got.Count, want)
	}
	for _, g := range got.Groups {
		if !g.System && len(g.Stack) == 0 && g.State == Waiting {
			t.Errorf("the stack of %s is empty, want where it waits", g.Start.Func)
		}
	}
}

// refuse has the kernel answer a system call of this process with an error.
func refuse(call uint32, with unix.Errno) error {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(with)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

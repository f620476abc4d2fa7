package corefile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// Emulator runs programs of arm64 on other machines, and writes cores of them.
const Emulator = "qemu-aarch64-static"

// Arm64 runs a program of arm64 until it has said "ready" and reads its input, ends it by a signal, and returns
// where its core is: in the directory.
func Arm64(ctx context.Context, dir, exe string, args ...string) (path string, err error) {
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -c unlimited; exec "$0" "$@"`, Emulator, exe}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTRACEBACK=crash")
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	for err == nil && !readsInput(cmd.Process.Pid) { // it says that it is ready before it does
		err = ctx.Err()
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Signal(syscall.SIGABRT)
	died := cmd.Wait()
	if err != nil || line != "ready\n" {
		return "", fmt.Errorf("the program says %q, %w", line, err)
	}
	cores, err := filepath.Glob(filepath.Join(dir, "qemu_*.core"))
	if err == nil && len(cores) != 1 {
		err = fmt.Errorf("%d cores of a program that ends with %w", len(cores), died)
	}
	if err != nil {
		return "", err
	}
	return cores[0], nil
}

// readsInput reports whether a thread of a process waits in the system call that reads standard input.
func readsInput(pid int) bool {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	return slices.ContainsFunc(tasks, func(path string) bool {
		b, _ := os.ReadFile(path)
		return bytes.HasPrefix(b, fmt.Appendf(nil, "%d 0x0 ", syscall.SYS_READ))
	})
}

//go:build unix

package corefile

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Stop stops a process and returns when each of its threads stands.
func Stop(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		stopped := 0
		tasks, _ := os.ReadDir(dir)
		for _, task := range tasks {
			stat, _ := os.ReadFile(dir + task.Name() + "/stat")
			if strings.Contains(string(stat), ") T ") {
				stopped++
			}
		}
		if stopped > 0 && stopped == len(tasks) {
			return nil
		}
	}
	return errors.New("it does not stop")
}

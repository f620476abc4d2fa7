package proc

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Environ returns a process's environment as its program found it, NAME=VALUE. Only its
// own user may read it.
func Environ(pid int) ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	text, err := readLimited(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}

// Container returns the IDs of the container and the pod that a process is in, as its
// control groups name them; empty where it is in none.
func Container(pid int) (container, pod string) {
	text, err := readLimited(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return "", ""
	}
	return containerOf(string(text))
}

// What Docker, containerd, CRI-O and Podman call the groups of containers, and kubelet
// those of pods: its ID has underscores for hyphens where systemd makes the groups.
var (
	containerForm = regexp.MustCompile(`[/:-]([0-9a-f]{64})(?:\.scope)?(?:/|$)`)
	podForm       = regexp.MustCompile(`pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})`)
)

func containerOf(groups string) (container, pod string) {
	for line := range strings.Lines(groups) {
		line = strings.TrimSuffix(line, "\n")
		if all := containerForm.FindAllStringSubmatch(line, -1); container == "" && len(all) > 0 {
			container = all[len(all)-1][1] // the innermost
		}
		if m := podForm.FindStringSubmatch(line); pod == "" && m != nil {
			pod = strings.ReplaceAll(m[1], "_", "-")
		}
	}
	return container, pod
}

// OwnListening returns the TCP addresses at which processes themselves listen, and that
// can be dialed from here: none of a process whose network is another.
func OwnListening(pids ...int) map[int][]string {
	return ownListening("/proc", pids)
}

func ownListening(proc string, pids []int) map[int][]string {
	network := func(pid string) string {
		name, _ := os.Readlink(filepath.Join(proc, pid, "ns/net"))
		return name
	}
	own, t, at := network("self"), sockets{proc: proc}, map[int][]string{}
	for _, pid := range pids {
		if network(strconv.Itoa(pid)) != own {
			continue
		}
		if addrs := t.of(pid); len(addrs) > 0 {
			at[pid] = addrs
		}
	}
	return at
}

package proc

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestContainerOf(t *testing.T) {
	id := strings.Repeat("0a", 32)
	const pod = "12345678-1234-1234-1234-123456789012"
	for _, c := range []struct{ groups, container, pod string }{
		{"", "", ""},
		{"0::/user.slice/user-1000.slice/session-2.scope\n", "", ""},
		{"0::/system.slice/docker-" + id + ".scope\n", id, ""},
		{"12:cpu,cpuacct:/docker/" + id + "\n1:name=systemd:/docker/" + id + "\n", id, ""},
		{"0::/machine.slice/libpod-" + id + ".scope/container\n", id, ""},
		{"0::/kubepods/burstable/pod" + pod + "/" + id + "\n", id, pod},
		{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + strings.ReplaceAll(pod, "-", "_") + ".slice/cri-containerd-" + id + ".scope\n", id, pod},
		{"0::/kubepods/pod" + pod + "/" + id[:63] + "\n", "", pod},
	} {
		if container, pod := containerOf(c.groups); container != c.container || pod != c.pod {
			t.Errorf("%q: %q, %q, want %q, %q", c.groups, container, pod, c.container, c.pod)
		}
	}
}

func TestOwnListening(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := OwnListening(os.Getpid())[os.Getpid()]; !slices.Contains(got, l.Addr().String()) {
		t.Errorf("%v lacks %s", got, l.Addr())
	}
	proc := t.TempDir()
	for pid, network := range map[string]string{"self": "net:[1]", "7": "net:[2]"} {
		dir := filepath.Join(proc, pid, "ns")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(network, filepath.Join(dir, "net")); err != nil {
			t.Fatal(err)
		}
	}
	if got := ownListening(proc, []int{7}); len(got) > 0 {
		t.Errorf("in another network: %v", got)
	}
}

func TestEnviron(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	env, err := Environ(os.Getpid())
	if err != nil || len(env) == 0 || !strings.Contains(env[0], "=") {
		t.Errorf("%d variables, %v", len(env), err)
	}
}

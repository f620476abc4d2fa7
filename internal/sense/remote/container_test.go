package remote

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// What docker and podman print of a container, as their documentation has it.
const fakeDocker = `[ "$*" = "inspect --type container --format {{.State.Pid}} -- shop" ] && { echo 4242; exit; }
[ "$6 $7" = "-- stopped" ] && { echo 0; exit; }
echo "Error: No such container: $7" >&2; exit 1
`

const fakeCrictl = `case "$*" in
'ps --quiet --name ^web$') echo 0123456789ab ;;
'ps --quiet --name ^twice$') printf 'aaaa\nbbbb\n' ;;
'ps --quiet'*) ;;
'inspect --output go-template --template {{.info.pid}} 0123456789ab') echo 77 ;;
*) echo "could not find container" >&2; exit 1 ;;
esac
`

func TestContainer(t *testing.T) {
	onPath(t, map[string]string{"docker": fakeDocker, "crictl": fakeCrictl})
	for name, want := range map[string]int{"shop": 4242, "web": 77, "0123456789ab": 77} {
		if pid, err := Container(t.Context(), name); pid != want || err != nil {
			t.Errorf("%s is %d, %v; want %d", name, pid, err, want)
		}
	}
	for name, want := range map[string]string{
		"nobody":  "docker: Error: No such container: nobody; crictl: could not find container",
		"stopped": "docker: it does not run",
		"twice":   "2 containers are called so; give an id, as aaaa",
		"--evil":  "is no name",
	} {
		if _, err := Container(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	var known *problem.Error
	if _, err := Container(t.Context(), "shop"); !errors.As(err, &known) || known.Kind != problem.Absence {
		t.Errorf("without any engine: %v", err)
	}
}

func TestParsePod(t *testing.T) {
	for s, want := range map[string]Pod{"shop-7f9c": {"", "shop-7f9c", DefaultPort}, "prod/shop:8080": {"prod", "shop", 8080}} {
		if p, err := ParsePod(s); p != want || err != nil {
			t.Errorf("%s is %+v, %v; want %+v", s, p, err, want)
		}
	}
	for _, s := range []string{"", "-n", "a/b/c", "Shop", "shop:0", "shop:70000", "shop:x", "a b"} {
		if p, err := ParsePod(s); err == nil {
			t.Errorf("%q is %+v, want an error", s, p)
		}
	}
}

const fakeKubectl = `case "$*" in
*'get pod shop --output'*) printf 'containerd://0123456789ab' ;;
'--namespace prod port-forward --address 127.0.0.1 pod/shop :6060')
	echo "Forwarding from 127.0.0.1:39217 -> 6060"
	echo "Handling connection for 39217"
	trap 'exit 0' TERM; while :; do sleep 0.05; done ;;
*) echo 'Error from server (NotFound): pods "shop" not found' >&2; exit 1 ;;
esac
`

func TestPod(t *testing.T) {
	onPath(t, map[string]string{"kubectl": fakeKubectl, "crictl": fakeCrictl})
	p := Pod{"prod", "shop", DefaultPort}
	if pid := p.Process(t.Context()); pid != 77 {
		t.Errorf("the pod is process %d, want 77", pid)
	}
	url, stop, err := p.Forward(t.Context())
	if err != nil || url != "http://127.0.0.1:39217" {
		t.Fatalf("Forward() = %q, %v", url, err)
	}
	stop()
	p.Namespace = "test"
	if _, _, err := p.Forward(t.Context()); err == nil || !strings.Contains(err.Error(), `pods "shop" not found`) {
		t.Errorf("of another namespace: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Forward(ctx); err == nil {
		t.Error("it forwards after an interrupt")
	}
	onPath(t, nil)
	t.Setenv("PATH", t.TempDir())
	if pid := p.Process(t.Context()); pid != 0 {
		t.Errorf("without kubectl the pod is process %d", pid)
	}
	if _, _, err := p.Forward(t.Context()); err == nil || !strings.Contains(err.Error(), "no kubectl") {
		t.Errorf("without kubectl: %v", err)
	}
}

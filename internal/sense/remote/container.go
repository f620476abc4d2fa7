package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

// An engine runs containers and says which process of this machine one is.
type engine struct {
	name string
	// find lists the containers that a name may mean, a line each; empty where inspect
	// takes names itself.
	find    func(name string) []string
	inspect func(name string) []string // prints the PID
}

// engines are the commands to try, in this order: crictl sees what docker and podman run
// only where they run for Kubernetes.
var engines = []engine{
	{name: "docker", inspect: func(n string) []string {
		return []string{"inspect", "--type", "container", "--format", "{{.State.Pid}}", "--", n}
	}},
	{name: "podman", inspect: func(n string) []string {
		return []string{"inspect", "--type", "container", "--format", "{{.State.Pid}}", "--", n}
	}},
	{name: "crictl",
		find: func(n string) []string { return []string{"ps", "--quiet", "--name", "^" + regexp.QuoteMeta(n) + "$"} },
		inspect: func(id string) []string {
			return []string{"inspect", "--output", "go-template", "--template", "{{.info.pid}}", id}
		}},
}

// Container returns the process of this machine that is the first of a container, which
// is given by its name or its id. It asks those of docker, podman and crictl that are here.
func Container(ctx context.Context, name string) (pid int, err error) {
	if !containerName.MatchString(name) {
		return 0, problem.New(problem.Misuse, "docker ps", "%q is no name and no id of a container", name)
	}
	var said []string
	for _, e := range engines {
		if _, err := exec.LookPath(e.name); err != nil {
			continue
		}
		pid, err := e.pid(ctx, name)
		if err == nil || ctx.Err() != nil {
			return pid, err
		}
		said = append(said, e.name+": "+problem.Cause(err).Error())
	}
	if len(said) == 0 {
		return 0, problem.New(problem.Absence, "gowhy list   # shows programs in containers, too; then --pid PID",
			"there is none of docker, podman and crictl here that knows containers")
	}
	return 0, problem.New(problem.Absence, "gowhy list   # shows programs in containers, too; then --pid PID", "there is no process of a container %q: %s", name, strings.Join(said, "; "))
}

// containerName is what engines allow, and no option.
var containerName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.:/@-]*$`)

func (e *engine) pid(ctx context.Context, name string) (int, error) {
	if e.find != nil {
		out, err := output(ctx, e.name, e.find(name)...)
		if err != nil {
			return 0, err
		}
		switch ids := strings.Fields(out); len(ids) {
		case 0: // it may be an id
		case 1:
			name = ids[0]
		default:
			return 0, fmt.Errorf("%d containers are called so; give an id, as %s", len(ids), ids[0])
		}
	}
	out, err := output(ctx, e.name, e.inspect(name)...)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return 0, fmt.Errorf("it does not say a process: %.100q", out)
	}
	if pid <= 0 {
		return 0, errors.New("it does not run")
	}
	return pid, nil
}

// asking is how long a command may take to answer.
const asking = 20 * time.Second

// output returns what a command prints; its error is what it complains of.
func output(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &beginning{b: &stdout}, &beginning{b: &stderr}
	if err := cmd.Run(); err != nil {
		if text := lastLine(stderr.String()); text != "" {
			return "", errors.New(text)
		}
		return "", err
	}
	return stdout.String(), nil
}

// lastLine returns what a command complains of in the end; before it kubectl logs each attempt.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// A Pod names a pod and the port at which its program has net/http/pprof.
type Pod struct {
	Namespace, Name string
	Port            int
}

// DefaultPort is where net/http/pprof mostly is.
const DefaultPort = 6060

var podName = regexp.MustCompile(`^(?:([a-z0-9][a-z0-9-]*)/)?([a-z0-9][a-z0-9.-]*)(?::(\d{1,5}))?$`)

// ParsePod reads [NAMESPACE/]NAME[:PORT].
func ParsePod(s string) (p Pod, err error) {
	m := podName.FindStringSubmatch(s)
	if m == nil {
		return p, problem.New(problem.Misuse, "--pod NAMESPACE/NAME:6060", "%q is no pod", s)
	}
	p = Pod{Namespace: m[1], Name: m[2], Port: DefaultPort}
	if m[3] != "" {
		if p.Port, err = strconv.Atoi(m[3]); err != nil || p.Port < 1 || p.Port > 65535 {
			return p, problem.New(problem.Misuse, "--pod "+shell.Word(m[2])+":6060", "%q is no port", m[3])
		}
	}
	return p, nil
}

func (p Pod) args(more ...string) []string {
	if p.Namespace == "" {
		return more
	}
	return append([]string{"--namespace", p.Namespace}, more...)
}

// Process returns the process of this machine that is the first one of the pod's container
// that runs here; 0 where none does, or where nobody here says so.
func (p Pod) Process(ctx context.Context) int {
	out, err := output(ctx, "kubectl", p.args("get", "pod", p.Name, "--output", "jsonpath={.status.containerStatuses[*].containerID}")...)
	if err != nil {
		return 0
	}
	for _, id := range strings.Fields(out) { // like containerd://ID
		if _, plain, ok := strings.Cut(id, "://"); ok {
			id = plain
		}
		if pid, err := Container(ctx, id); err == nil {
			return pid
		}
	}
	return 0
}

// forwarding is how kubectl says which port it chose.
var forwarding = regexp.MustCompile(`^Forwarding from 127\.0\.0\.1:(\d+) ->`)

// Forward has kubectl lead a port of this machine, which it chooses, to the pod, and
// returns the URL. stop ends that.
func (p Pod) Forward(ctx context.Context) (url string, stop func(), err error) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		return "", nil, problem.New(problem.Absence, "install kubectl, or lead a port to the pod yourself and give --url", "there is no kubectl on this machine")
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, "kubectl", p.args("port-forward", "--address", "127.0.0.1", "pod/"+p.Name, fmt.Sprintf(":%d", p.Port))...)
	cmd.SysProcAttr, cmd.WaitDelay = ownGroup(), time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &beginning{b: &stderr}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	slow := time.AfterFunc(asking, cancel)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := forwarding.FindStringSubmatch(lines.Text()); m != nil && slow.Stop() {
			go func() { _, _ = io.Copy(io.Discard, out) }() // "Handling connection for …"
			return "http://127.0.0.1:" + m[1], func() { cancel(); _ = cmd.Wait() }, nil
		}
	}
	cancel()
	_ = cmd.Wait()
	said := lastLine(stderr.String())
	if said == "" {
		said = "it leads to no port of the pod"
	}
	return "", nil, problem.New(problem.Absence, "kubectl "+shell.Words(p.args("get", "pods")), "kubectl port-forward: %s", said)
}

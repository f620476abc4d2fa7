package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/build"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// runAll runs programs one after the other. One that fails does not keep the
// others from being run.
func runAll(ctx context.Context, chosen []program, keep string, last time.Duration) error {
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	gowhy, err := bed.Gowhy(ctx)
	if err != nil {
		return err
	}
	if keep == "" {
		keep = filepath.Join(bed.Dir(), "kept")
	}
	if keep, err = filepath.Abs(keep); err != nil {
		return err
	}
	var all []error
	for _, p := range chosen {
		if ctx.Err() != nil {
			break
		}
		r := &run{program: p, gowhy: gowhy, keep: keep, last: last}
		if err := r.all(ctx, filepath.Join(bed.Dir(), p.name)); err != nil {
			all = append(all, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	return errors.Join(append(all, ctx.Err())...)
}

// A run is one program, recorded once.
type run struct {
	program
	gowhy, keep string
	dir, port   string
	last        time.Duration
	fill        *strings.Replacer // of placeholders
}

func (r *run) all(ctx context.Context, dir string) error {
	bin, err := r.install(ctx)
	if err != nil {
		return err
	}
	if err := r.prepare(dir, bin); err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(r.keep, 0o755), os.RemoveAll(r.recording())); err != nil {
		return err
	}
	for _, command := range r.before {
		j, err := r.start(ctx, command...)
		if err == nil {
			err = j.wait(ctx)
		}
		if err != nil {
			return err
		}
	}
	fmt.Printf("\n━━ %s: %s\n   %s\n\n", r.name, r.about, strings.Join(append(r.pkgs, r.bench[0]), " "))
	switch {
	case r.bench[0] != "":
		err = r.benchmarks(ctx)
	case len(r.load) > 0:
		err = r.server(ctx)
	default:
		err = r.toItsEnd(ctx)
	}
	if err != nil {
		return err
	}
	return r.diagnose(ctx)
}

// install returns the folder of a program at its version, into which it and its
// tools are put the first time.
func (p *program) install(ctx context.Context) (bin string, err error) {
	if len(p.pkgs) == 0 {
		return "", nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	bin = filepath.Join(cache, "gowhy-field", p.name+"-"+version(p.pkgs[0]))
	for _, pkg := range p.pkgs {
		if _, err := os.Stat(filepath.Join(bin, binary(pkg))); err == nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "installing %s, once\n", pkg)
		cmd := exec.CommandContext(ctx, "go", "install", pkg)
		cmd.Env = append(os.Environ(), "GOBIN="+bin, "GOWORK=off")
		if text, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go install %s: %w\n%s", pkg, err, text)
		}
	}
	return bin, nil
}

func version(pkg string) string {
	_, v, _ := strings.Cut(pkg, "@")
	return v
}

var major = regexp.MustCompile(`^v[0-9]+$`)

// binary returns the name that go install gives a command: the last part of its
// path that is no major version.
func binary(pkg string) string {
	path, _, _ := strings.Cut(pkg, "@")
	dir, name := filepath.Split(path)
	if major.MatchString(name) {
		name = filepath.Base(dir)
	}
	return name
}

// prepare writes the program's files and finds ports for it.
func (r *run) prepare(dir, bin string) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	r.dir, r.port = dir, ports[0]
	r.fill = strings.NewReplacer("{port}", ports[0], "{admin}", ports[1], "{dir}", dir, "{bin}", bin, "{gowhy}", r.gowhy, "{goroot}", build.Default.GOROOT)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		if err := writeFile(filepath.Join(dir, name), r.fill.Replace(r.files[name])); err != nil {
			return err
		}
	}
	if r.inputs == nil {
		return nil
	}
	for name, text := range r.inputs() {
		if err := writeFile(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600))
}

// freePorts are ports of loopback that nobody listens at now.
func freePorts(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

func (r *run) recording() string { return filepath.Join(r.keep, r.name+".gowhy") }

// words returns a command with its placeholders filled.
func (r *run) words(command ...string) []string {
	out := make([]string, len(command))
	for i, w := range command {
		out[i] = r.fill.Replace(w)
	}
	return out
}

// start starts a command in the program's folder; it is asked to end when ctx
// does, and killed when it does not.
func (r *run) start(ctx context.Context, command ...string) (*job, error) {
	words := r.words(command...)
	j := &job{Cmd: exec.CommandContext(ctx, words[0], words[1:]...)}
	j.Dir, j.Stdout, j.Stderr = r.dir, &j.output, &j.output
	j.Cancel = func() error { return j.Process.Signal(os.Interrupt) }
	j.WaitDelay = parting
	return j, j.Start()
}

// parting is how long a program may take to end when it is asked to.
const parting = 10 * time.Second

// A job is a command that runs, with all that it said.
type job struct {
	*exec.Cmd
	output bytes.Buffer
}

// wait waits for the end; that we asked for it is no failure.
func (j *job) wait(ctx context.Context) error {
	err := j.Wait()
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", filepath.Base(j.Path), err, j.output.String())
}

// server runs a server under load, and records it.
func (r *run) server(ctx context.Context) error {
	serving, stop := context.WithCancel(ctx)
	server, err := r.start(serving, r.command...)
	if err != nil {
		stop()
		return err
	}
	end := sync.OnceFunc(func() { stop(); _ = server.wait(serving) })
	defer end()
	if err := r.await(ctx); err != nil {
		end() // what it said is complete then
		return fmt.Errorf("%w\n%s", err, server.output.String())
	}
	loading, stopLoad := context.WithCancel(ctx)
	loaded := make(chan error, 1)
	go func() { loaded <- r.offer(loading) }()
	time.Sleep(warmup)
	whom := []string{"--pid", strconv.Itoa(server.Process.Pid)}
	if r.profiles != "" {
		whom = []string{"--url", r.profiles}
	}
	recorder, err := r.start(ctx, append([]string{r.gowhy, "record", "--no-diagnose", "-o", r.recording(), "-d", r.last.String()}, whom...)...)
	if err == nil {
		err = recorder.wait(ctx)
	}
	if err != nil || r.load[0] != "{gowhy}" {
		stopLoad()
	}
	defer stopLoad()
	return errors.Join(err, <-loaded)
}

// warmup is how long load goes on before and after a recording: what a program
// does once, at first, is not what it does.
const warmup = time.Second

// offer offers load for longer than the recording takes. A benchmark that has
// no time of its own is run again until it is stopped.
func (r *run) offer(ctx context.Context) error {
	load := r.load
	if load[0] == "{gowhy}" {
		load = append(slices.Clone(load), "-d", (r.last + 2*warmup).String(), "-o", r.result())
	}
	for {
		generator, err := r.start(ctx, load...)
		if err != nil {
			return err
		}
		if err := generator.wait(ctx); err != nil || ctx.Err() != nil || r.load[0] == "{gowhy}" {
			return err
		}
	}
}

func (r *run) result() string { return filepath.Join(r.dir, "load.json") }

// await waits until the server takes connections; the one that takes queries
// by UDP does both.
func (r *run) await(ctx context.Context) error {
	const limit, pause = 20 * time.Second, 20 * time.Millisecond
	for end := time.Now().Add(limit); ; time.Sleep(pause) {
		c, err := net.Dial("tcp", "127.0.0.1:"+r.port)
		if err == nil {
			return c.Close()
		}
		if ctx.Err() != nil || time.Now().After(end) {
			return fmt.Errorf("it did not listen within %v: %w", limit, err)
		}
	}
}

// toItsEnd records a program that ends by itself.
func (r *run) toItsEnd(ctx context.Context) error {
	command := append([]string{r.gowhy, "record", "--no-diagnose", "-o", r.recording(), "--"}, r.command...)
	j, err := r.start(ctx, command...)
	if err != nil {
		return err
	}
	return j.wait(ctx)
}

// benchmarks records a test binary, which gowhy makes record itself.
func (r *run) benchmarks(ctx context.Context) error {
	through := shell.Words([]string{r.gowhy, "record", "--no-diagnose", "-o", filepath.Join(r.dir, "bench.gowhy"), "--"})
	j, err := r.start(ctx, "go", "test", "-run", "^$", "-bench", r.bench[1], "-benchtime", "1s", "-exec", through, r.bench[0])
	if err != nil {
		return err
	}
	if err := j.wait(ctx); err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(r.dir, "bench*.gowhy"))
	if err != nil || len(made) != 1 {
		return fmt.Errorf("%d recordings were made: %s", len(made), j.output.String())
	}
	return os.Rename(made[0], r.recording())
}

// diagnose prints what gowhy says.
func (r *run) diagnose(ctx context.Context) error {
	evidence := []string{"diagnose", "-v", r.recording()}
	if _, err := os.Stat(r.result()); err == nil {
		evidence = append(evidence, r.result())
	}
	said, err := testbed.Run(ctx, r.gowhy, evidence...)
	fmt.Print(said.Stdout)
	return err
}

package record

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/beat"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/kernel"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// An observer is what is seen of a process from outside: by /proc and by the
// kernel. A nil one sees nothing.
type observer struct {
	r      *recorder
	pid    int
	ends   bool // by itself, before it was read for the last time
	log    *procLog
	kernel *kernel.Session
	once   sync.Once
	quit   chan struct{}
	spent  recording.Cost
}

// observe begins; what is refused is noted.
func (r *recorder) observe(pid int, ends bool) *observer {
	o := &observer{r: r, pid: pid, ends: ends, quit: make(chan struct{})}
	r.man.PID = pid
	// Of a piece nobody asked for every call, though the source is named.
	k := kernel.Options{PID: pid, OffCPU: r.wants("offcpu"), Syscalls: r.wants("syscalls"), Sparse: r.o.Piece,
		AllSyscalls: slices.Contains(r.o.Only, "syscalls") && !r.o.Piece}
	if r.wants("kernel") {
		k.Hz = kernelHz
	}
	// The kernel takes some time to begin and longer to end. The counters begin
	// after it and end before it, so that both are of the same time.
	if k.Hz > 0 || k.OffCPU || k.Syscalls {
		o.startKernel(k)
	}
	if r.wants("proc") {
		o.startLog(pid)
	}
	return o
}

// startLog begins with the counters of /proc.
func (o *observer) startLog(pid int) {
	r := o.r
	pace := slowing(procEvery, procEveryLater)
	if r.o.Piece {
		pace = slowing(procEveryPiece, procEveryLater)
	}
	out, err := r.logFor(recording.ProcMember, &pace)
	if err == nil {
		log := &procLog{out: out, pace: pace, ends: o.ends}
		if !r.o.Piece {
			log.maps = func(resident uint64) *proc.Maps { return r.mapsOf(pid, resident) }
		}
		if err = log.start(pid); err == nil {
			o.log = log
		}
	}
	if err != nil {
		os.Remove(r.w.Path(recording.ProcMember))
		r.refuse(recording.ProcMember, procRefusal(pid, err))
	}
}

// logFor returns where a log goes: into its member, or into memory while a mark is waited for.
func (r *recorder) logFor(member string, pace *pace) (io.WriteCloser, error) {
	if r.box != nil {
		*pace = r.box.pace
		return r.box.log(member), nil
	}
	return os.Create(r.w.Path(member))
}

func (o *observer) startKernel(k kernel.Options) {
	s, err := kernel.Start(k)
	if err != nil {
		for _, m := range []struct{ source, member string }{
			{"kernel", recording.KernelMember}, {"offcpu", recording.OffCPUMember}, {"syscalls", recording.SyscallsMember},
		} {
			if o.r.wants(m.source) {
				o.r.refuse(m.member, kernelRefusal(k.PID, err))
			}
		}
		return
	}
	o.kernel = s
	for _, f := range s.Refusals() {
		o.r.refuse(kernelMember(f.What), artifact.Refusal{Why: f.Why, How: f.How})
	}
}

// kernelRefusal says why nothing of the kernel's can be had; of another user's
// process each part has that one reason in other words.
func kernelRefusal(pid int, err error) artifact.Refusal {
	if info, serr := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); serr == nil && os.Geteuid() != 0 {
		if uid, ok := userOf(info); ok && uid != os.Geteuid() {
			return artifact.Refusal{Why: "the process is another user's", How: fmt.Sprintf("sudo gowhy record --pid %d", pid)}
		}
	}
	return artifact.Refusal{Why: err.Error(), How: "gowhy doctor"}
}

// procLog returns that of the counters; nil without.
func (o *observer) procLog() *procLog {
	if o == nil {
		return nil
	}
	return o.log
}

// end stops observing. It may be called again.
func (o *observer) end() {
	if o == nil {
		return
	}
	o.once.Do(func() {
		close(o.quit)
		if o.log != nil {
			if err := o.log.stop(); err != nil {
				o.r.refuse(recording.ProcMember, artifact.Refusal{Why: err.Error()})
			}
			used, in := o.log.cpu()
			o.spent.TargetCPU, o.spent.TargetWall = used.Seconds(), in.Seconds()
		}
		if o.kernel != nil {
			res, err := o.kernel.Stop()
			if err != nil {
				o.r.refuse(recording.KernelMember, artifact.Refusal{Why: err.Error()})
			}
			if res != nil {
				o.r.keepKernel(res)
			}
		}
	})
}

func (o *observer) cost() recording.Cost {
	if o == nil {
		return recording.Cost{}
	}
	c := o.spent
	c.TargetBefore, c.TargetBeforeWall = o.r.target.before.Seconds(), o.r.target.beforeWall.Seconds()
	return c
}

// goneEvery is how often it is looked whether a process that is not ours has
// ended.
const goneEvery = 100 * time.Millisecond

// whenGone calls cancel when the process ends.
func (o *observer) whenGone(cancel context.CancelCauseFunc) {
	if o == nil {
		return
	}
	// In a piece the counters, which are read anyway, tell.
	var ended chan struct{}
	every := goneEvery
	if o.r.o.Piece && o.log != nil {
		ended, every = o.log.done, procEveryPiece
	}
	go func() {
		next := time.NewTimer(beat.UntilNext(every))
		defer next.Stop()
		if ended != nil {
			next.Stop()
		}
		for {
			select {
			case <-next.C:
			case <-ended: // or could not be read any more
				ended = nil
			case <-o.quit:
				return
			}
			if o.isGone() {
				cancel(errProgramGone)
				return
			}
			next.Reset(beat.UntilNext(every))
		}
	}()
}

func (o *observer) isGone() bool { return o != nil && exited(o.pid) }

// exited reports whether a process has ended, waited for by its parent or not.
func exited(pid int) bool {
	if !alive(pid) {
		return true
	}
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, state, ok := bytes.Cut(text[bytes.LastIndexByte(text, ')')+1:], []byte(" "))
	return err == nil && ok && len(state) > 0 && (state[0] == 'Z' || state[0] == 'X')
}

// before measures for a second what the target uses without us, for the cost
// of recording.
func (r *recorder) before(ctx context.Context, pid int) {
	if pid == 0 || !r.wants("proc") {
		return
	}
	r.target.before, r.target.beforeWall = cpuBefore(pid, func() { sleepUntil(ctx, time.Now().Add(r.o.unwatched)) })
}

// beforeWindow is as short as a comparison of CPU times can bear: they are
// exact, but a load is not the same from one moment to the next.
const beforeWindow = time.Second

// refuseOfCommands notes sources wanted by name and only a program that we start can be made
// to tell.
func (r *recorder) refuseOfCommands() {
	for source, member := range map[string]string{"gctrace": recording.GCTraceMember, "schedtrace": recording.SchedTraceMember} {
		if slices.Contains(r.o.Only, source) {
			r.refuse(member, artifact.Refusal{Why: "a program prints it only when it was started so", How: "gowhy record -- ./PROGRAM"})
		}
	}
}

// describe notes what is known of a process from its files.
func (r *recorder) describe(pid int) {
	if pid == 0 {
		return
	}
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	if text, err := os.ReadFile(filepath.Join(dir, "cmdline")); err == nil && len(r.man.Command) == 0 {
		r.man.Command = strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
	}
	if text, err := os.ReadFile(filepath.Join(dir, "environ")); err == nil {
		r.man.Env = artifact.GoEnvironment(strings.Split(string(text), "\x00"))
	}
	// Not of other users' processes, and of use only while it exists.
	if cwd, err := os.Readlink(filepath.Join(dir, "cwd")); err == nil && filepath.IsAbs(cwd) {
		if _, err := os.Stat(cwd); err == nil {
			r.man.Dir = cwd
		}
	}
	r.build(filepath.Join(dir, "exe"))
}

// build writes what a program was built from, in the form of go version -m.
func (r *recorder) build(exe string) *buildinfo.BuildInfo {
	info, err := buildinfo.ReadFile(exe)
	if err != nil {
		if r.wants("build") && errors.Is(err, os.ErrPermission) {
			why := artifact.Refusal{Why: "the program's file may not be read"}
			if pid, ok := strings.CutPrefix(filepath.Dir(exe), "/proc/"); ok {
				why.How = "sudo gowhy record --pid " + pid
			}
			r.refuse(recording.BuildMember, why)
		}
		return nil
	}
	r.man.Go = info.GoVersion
	if r.wants("build") {
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s\n", name(exe), info.GoVersion)
		for line := range strings.Lines(info.String()) {
			if !strings.HasPrefix(line, "go\t") {
				b.WriteString("\t" + line)
			}
		}
		if err := os.WriteFile(r.w.Path(recording.BuildMember), []byte(b.String()), 0o600); err != nil {
			r.refuse(recording.BuildMember, artifact.Refusal{Why: err.Error()})
		}
	}
	return info
}

// notOfGo reports whether a program's file can be read and says nothing of Go.
func notOfGo(exe string) bool {
	f, err := os.Open(exe)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = buildinfo.Read(f)
	return err != nil
}

func name(exe string) string {
	if to, err := os.Readlink(exe); err == nil {
		exe = to
	}
	return filepath.Base(exe)
}

// findIn looks for an endpoint at the ports of a process.
func (r *recorder) findIn(ctx context.Context, pid int) *endpoint {
	addrs, err := proc.Listening(pid)
	if err != nil {
		r.refuse(artifact.EndpointMember, artifact.Refusal{Why: "the process's ports could not be looked for: " + err.Error()})
		return nil
	}
	client := localClient
	if apart(pid) && len(addrs) > 0 {
		if err := inNetwork(pid, func() error { return nil }); err != nil {
			r.refuse(artifact.EndpointMember, artifact.Refusal{Why: "the process has a network of its own, as in a container, which only root may enter",
				How: fmt.Sprintf("sudo gowhy record --pid %d", pid)})
			return nil
		}
		client = func() *http.Client { return networkClient(pid) }
	}
	at := firstEndpoint(ctx, addrs, map[string]bool{}, client)
	if at == nil {
		if len(addrs) == 0 && !PortsShown(pid) {
			r.refuse(artifact.EndpointMember, artifact.Refusal{Why: "the process's ports may not be looked at, for it is another user's",
				How: fmt.Sprintf("gowhy record --pid %d --url http://localhost:PORT   # or: sudo gowhy record --pid %d", pid, pid)})
			return nil
		}
		if exe := filepath.Join("/proc", strconv.Itoa(pid), "exe"); notOfGo(exe) {
			r.refuse(artifact.EndpointMember, artifact.Refusal{Why: name(exe) + " is no Go program, or built without build information", How: "gowhy list"})
			return nil
		}
		why := "the process listens nowhere"
		if len(addrs) > 0 {
			why = "no profiling handlers at " + strings.Join(addrs, ", ")
		}
		r.refuse(artifact.EndpointMember, artifact.Refusal{Why: why,
			How: `import _ "github.com/gowhy/gowhy/agent" or _ "net/http/pprof" in the program and serve HTTP`})
	}
	return at
}

// PortsShown reports whether this user may see at which ports a process listens.
func PortsShown(pid int) bool {
	_, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	return !errors.Is(err, os.ErrPermission)
}

// Endpoint asks TCP addresses of this machine whether a program can be recorded
// there, and returns the URL of its handlers, empty when there are none.
// agent is set when they are those of gowhy's agent.
func Endpoint(ctx context.Context, addrs []string) (at string, agent bool) {
	e := firstEndpoint(ctx, addrs, map[string]bool{}, localClient)
	if e == nil {
		return "", false
	}
	return e.base, e.agent
}

// Index asks TCP addresses of this machine whether a program has handlers
// there, those of gowhy's agent or of net/http/pprof, and returns their URL, empty
// when there are none. It is one GET to each address, and none to those in
// asked, to which it adds what answered: a stranger's log has one line of it.
func Index(ctx context.Context, addrs []string, agent bool, asked map[string]bool) (at string) {
	path := pprofPath
	if agent {
		path = agentPath
	}
	for _, a := range addrs {
		if asked[a] {
			continue
		}
		e := &endpoint{client: localClient(), base: "http://" + a + path, agent: agent}
		err := e.greet(ctx, probeLimit)
		if err == nil {
			return e.base
		}
		asked[a] = !unreachable(err) // which it may become
	}
	return ""
}

// FreeSpace returns how many bytes a recording in a directory may have.
func FreeSpace(dir string) (bytes uint64, known bool) { return diskFree(dir) }

// firstEndpoint asks all addresses at the same time, those in refused left
// out, and prefers the agent. It adds to refused those that answer as
// something else. Each has a client of its own.
func firstEndpoint(ctx context.Context, addrs []string, refused map[string]bool, client func() *http.Client) (best *endpoint) {
	type answer struct {
		at   *endpoint
		addr string
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan answer)
	n := 0
	for _, a := range addrs {
		if refused[a] {
			continue
		}
		for _, path := range []string{agentPath, pprofPath} {
			n++
			go func() {
				e := &endpoint{client: client(), base: "http://" + a + path, agent: path == agentPath}
				answers <- answer{e, a, e.probe(ctx, probeLimit)}
			}()
		}
	}
	others := map[string]int{}
	for range n {
		switch a := <-answers; {
		case a.err == nil && (best == nil || a.at.agent):
			best = a.at
		case a.err != nil && !unreachable(a.err) && !errors.Is(a.err, context.DeadlineExceeded):
			if others[a.addr]++; others[a.addr] == 2 {
				refused[a.addr] = true
			}
		}
	}
	return best
}

// processBehind returns the process that listens where a URL points to, 0 when it is on
// another machine or not known. A port may belong to a proxy of containers: the program's own
// word decides.
func (r *recorder) processBehind(ctx context.Context, at *endpoint) int {
	local, pid := owner(ctx, at)
	if local && pid == 0 {
		for _, m := range []string{recording.ProcMember, recording.KernelMember, recording.OffCPUMember, recording.SyscallsMember} {
			r.refuse(m, artifact.Refusal{Why: "the process behind the port could not be found", How: "gowhy list   # then add its --pid; or: sudo gowhy record --url …"})
		}
	}
	return pid
}

// listener returns the process of an endpoint that was found at the ports of a
// process or of what that started: all evidence is to be of one.
func (r *recorder) listener(ctx context.Context, pid int, at *endpoint) int {
	if apart(pid) {
		return pid // the tables here have other ports
	}
	_, found := owner(ctx, at)
	if found == 0 || found == pid {
		return pid
	}
	r.o.Log(fmt.Sprintf("process %d, which process %d started, is the one that answers; it is recorded", found, pid))
	return found
}

// owner returns the process that listens at an endpoint, 0 when it is not known, and whether
// it is one of this machine.
func owner(ctx context.Context, at *endpoint) (local bool, pid int) {
	u, err := url.Parse(at.base)
	if err != nil || !loopback(ctx, u.Hostname()) {
		return false, 0
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	argv := at.cmdline(ctx)
	number, _ := strconv.ParseUint(port, 10, 16)
	owners, _ := proc.Owners(uint16(number))
	for _, pid := range owners {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		if err == nil && (argv == nil || string(text) == strings.Join(argv, "\x00")+"\x00") {
			return true, pid
		}
	}
	return true, 0
}

// loopback reports whether a host is this machine's own.
func loopback(ctx context.Context, host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsUnspecified()
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	return err == nil && len(ips) > 0 && !slices.ContainsFunc(ips, func(a net.IPAddr) bool { return !a.IP.IsLoopback() })
}

// ProcessAt returns the process of this machine that serves a URL.
func ProcessAt(ctx context.Context, target string) (pid int, err error) {
	at, err := find(ctx, target)
	if err != nil {
		return 0, err
	}
	local, pid := owner(ctx, at)
	switch {
	case !local:
		return 0, problem.New(problem.Misuse, "gowhy record --url "+shell.Word(target), "%s is not of this machine: only what runs here can be watched", at.redactedAddress())
	case pid == 0:
		return 0, problem.New(problem.Absence, "gowhy list", "the process behind %s could not be found", at.redactedAddress())
	}
	return pid, nil
}

package cli

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/kernel"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// A check is one line of the doctor's: something that can be recorded here, or
// not, or in part.
type check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Is   string `json:"is,omitempty"`  // what was found
	Why  string `json:"why,omitempty"` // what is missing
	How  string `json:"how,omitempty"` // a command that changes it
}

func (c *command) doctorCommand() *cobra.Command {
	var pid int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [--pid PID]",
		Short: "Say what can be recorded here, and how to allow the rest",
		Long: `Tries what gowhy record needs of this machine and says what works, what does
not and the command that would allow it. With --pid it also looks at one
process. Nothing is changed.`,
		Example: `  gowhy doctor
  gowhy doctor --pid 4242
  gowhy doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := machineChecks()
			switch {
			case pid < 0:
				return usageError("gowhy list", "--pid %d is no process", pid)
			case pid > 0:
				checks = append(checks, processChecks(cmd.Context(), pid)...)
			}
			if asJSON {
				text, err := json.MarshalIndent(checks, "", "  ")
				if err != nil {
					return err
				}
				_, err = c.Stdout.Write(append(text, '\n'))
				return err
			}
			return c.writeChecks(checks)
		},
	}
	cmd.Flags().IntVar(&pid, "pid", 0, "also look at the process `PID`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return cmd
}

func (c *command) writeChecks(checks []check) error {
	look := c.layout()
	width := cmp.Or(look.Width, 80)
	wide := 0
	for _, k := range checks {
		wide = max(wide, len(k.What))
	}
	var b strings.Builder
	for _, k := range checks {
		mark := "no "
		switch {
		case k.OK && k.Why != "":
			mark = "in part"
		case k.OK:
			mark = "yes"
		}
		text := strings.Join(slices.DeleteFunc([]string{k.Is, k.Why}, func(s string) bool { return s == "" }), "; ")
		look.Width = max(30, width-wide-11)
		for i, l := range strings.Split(strings.TrimSuffix(layout.Wrap(text, look), "\n"), "\n") {
			if i > 0 {
				mark, k.What = "", ""
			}
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-7s  %-*s  %s", mark, wide, k.What, l), " ") + "\n")
		}
		if k.How != "" { // on one line, however long: it is to be pasted
			fmt.Fprintf(&b, "         %s\n", layout.Safe(k.How))
		}
	}
	_, err := io.WriteString(c.Stdout, b.String())
	return err
}

// kernelWords say what the kernel's parts are, in the words of record.
var kernelWords = map[string]string{
	"cpu": "kernel: CPU", "kernel stacks": "kernel: its own functions", "offcpu": "offcpu: lost CPU", "syscalls": "syscalls",
}

func machineChecks() []check {
	var all []check
	for _, p := range kernel.Check() {
		all = append(all, check{What: cmp.Or(kernelWords[p.What], p.What), OK: p.OK, Why: p.Why, How: p.How})
	}
	linux := runtime.GOOS == "linux" // elsewhere no setting and no right changes what is refused
	if linux {
		all = append(all, settings()...)
	}
	all = append(all, counters(os.Getpid(), "proc")...)
	if linux {
		all = append(all, othersProcesses(), goroutinesCheck())
	}
	return append(all, toolchain(), disk())
}

// settings returns those of the system that decide over the kernel's part.
func settings() (all []check) {
	for _, s := range []struct{ name, means string }{
		{"kernel/perf_event_paranoid", "2 and more hide the kernel from users, 3 and more everything"},
		{"kernel/kptr_restrict", "more than 0 hides the kernel's names"},
		{"kernel/unprivileged_bpf_disabled", "more than 0 asks for CAP_BPF"},
	} {
		if text, err := os.ReadFile("/proc/sys/" + s.name); err == nil {
			all = append(all, check{What: filepath.Base(s.name), OK: true, Is: strings.TrimSpace(string(text)) + " (" + s.means + ")"})
		}
	}
	return all
}

// counters looks at what /proc tells of a process.
func counters(pid int, what string) []check {
	p, err := proc.Open(pid)
	if err != nil {
		return []check{{What: what, Why: err.Error()}}
	}
	defer p.Close()
	s, err := p.Sample(true)
	if err != nil {
		return []check{{What: what, Why: err.Error()}}
	}
	all := []check{{What: what, OK: true, Is: "CPU time, faults, memory"}}
	k := &all[0]
	if s.Process.ReadCalls < 0 || s.Process.FDs < 0 {
		k.Why, k.How = "not how much it reads and writes, nor its open files: it is another user's", "sudo gowhy record --pid "+strconv.Itoa(pid)
	}
	if text, err := os.ReadFile("/proc/self/schedstat"); err != nil || strings.HasPrefix(string(text), "0 0 ") {
		all = append(all, check{What: what + ": waiting for a CPU", Why: "the kernel does not count it", How: "sudo sysctl kernel.sched_schedstats=1"})
	}
	group := check{What: what + ": control group", OK: s.Group != nil, Is: limitsOf(s.Limits)}
	if s.Group == nil {
		group.Why = "none was found: no quota, no throttling, no memory limit can be seen"
	}
	stall := check{What: what + ": pressure", OK: s.Machine.CPUStall >= 0}
	if !stall.OK {
		stall.Why, stall.How = "the kernel measures no pressure stall information", "boot with psi=1"
	}
	return append(all, group, stall)
}

func limitsOf(l proc.Limits) string {
	is := figures.Plural(l.CPUs, "CPU")
	if l.Quota > 0 {
		is += ", a quota of " + figures.Number(l.Quota)
	}
	if l.Memory > 0 {
		is += ", " + figures.Bytes(l.Memory) + " of memory"
	}
	return is
}

// othersProcesses reports whether processes of other users can be looked into.
func othersProcesses() check {
	k := check{What: "other users' processes", OK: os.Geteuid() == 0}
	if !k.OK {
		k.Why, k.How = "only processes of your own user are recorded whole", "sudo gowhy record …"
	}
	return k
}

// toolchain looks at the go command, which gowhy itself does not need.
func toolchain() check {
	k := check{What: "go"}
	path, err := exec.LookPath("go")
	if err != nil {
		k.Why = "no go command in PATH: gowhy does without, but go test -exec needs it"
		return k
	}
	k.OK, k.Is = true, path
	if info, err := buildinfo.ReadFile(path); err == nil {
		k.Is = info.GoVersion + " at " + path
	}
	return k
}

// lowSpace is the size at which a trace stops, and what the rest may need.
const lowSpace = record.DefaultTraceLimit + 256<<20

func disk() check {
	free, known := record.FreeSpace(".")
	switch {
	case !known:
		return check{What: "disk", OK: true, Is: "free space is not known on " + runtime.GOOS}
	case free < lowSpace:
		return check{What: "disk", Is: figures.Bytes(free) + " free here", Why: "a trace may have 512 MiB", How: "gowhy record -o /OTHER/DISK/run.gowhy …"}
	}
	return check{What: "disk", OK: true, Is: figures.Bytes(free) + " free here"}
}

// processChecks looks at one process.
func processChecks(ctx context.Context, pid int) []check {
	name := fmt.Sprintf("process %d", pid)
	p, err := proc.Open(pid)
	if err != nil {
		k := check{What: name, Why: err.Error(), How: "gowhy list"}
		if errors.Is(err, fs.ErrPermission) {
			k.How = fmt.Sprintf("sudo gowhy doctor --pid %d", pid)
		}
		return []check{k}
	}
	p.Close()
	all := []check{programCheck(name, pid)}
	all = append(all, counters(pid, name+": proc")...)
	return append(all, programGoroutines(name, pid), endpointCheck(ctx, name, pid))
}

// goroutinesCheck says whose goroutines top can read.
func goroutinesCheck() check {
	k := check{What: "goroutines of running programs"}
	r, err := goroutines.Open(os.Getpid())
	if err != nil {
		k.Why = err.Error()
		return k
	}
	r.Close()
	k.OK, k.Is = true, "gowhy top reads them without stopping a program"
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	switch s := strings.TrimSpace(string(scope)); {
	case s == "3":
		k.OK, k.Is, k.Why = false, "", "kernel.yama.ptrace_scope is 3: nobody may read the memory of others until the next boot"
	case os.Geteuid() == 0:
	case s == "1", s == "2":
		k.Why, k.How = "kernel.yama.ptrace_scope is "+s+": only root may read the memory of others", "sudo gowhy top   # or: sudo sysctl kernel.yama.ptrace_scope=0"
	default:
		k.Why, k.How = "only of programs of your own user", "sudo gowhy top"
	}
	return k
}

// keepsHeap reports whether a program keeps a memory profile that can be read.
func keepsHeap(r *goroutines.Reader) bool {
	h, err := r.HeapReader()
	if err != nil {
		return false
	}
	defer h.Close()
	_, err = h.Read()
	return err == nil
}

func programGoroutines(name string, pid int) check {
	k := check{What: name + ": goroutines"}
	r, err := goroutines.Open(pid)
	if err == nil {
		defer r.Close()
		var s *goroutines.Snapshot
		if s, err = r.Read(); err == nil {
			k.OK, k.Is = true, figures.Plural(s.Count, "goroutine")+", read out of its memory"
			if r.Counters().Procs > 0 {
				k.Is += ", and what its runtime counts of collections and heap"
				if keepsHeap(r) {
					k.Is += ", its memory profile"
				}
			} else {
				k.Why = "what its runtime counts of collections and heap is not found: its file has no symbols, and its code does not tell"
			}
			return k
		}
	}
	k.Why = err.Error()
	if errors.Is(err, fs.ErrPermission) {
		k.How = fmt.Sprintf("sudo gowhy top %d", pid)
	}
	return k
}

func programCheck(name string, pid int) check {
	k := check{What: name}
	info, err := buildinfo.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
	switch {
	case errors.Is(err, fs.ErrPermission):
		k.Why, k.How = "its file may not be read", fmt.Sprintf("sudo gowhy doctor --pid %d", pid)
	case err != nil:
		k.Why = "not a Go program, or built without build information: only the kernel and /proc tell of it"
	default:
		k.OK, k.Is = true, info.Path+", "+info.GoVersion
	}
	return k
}

func endpointCheck(ctx context.Context, name string, pid int) check {
	k := check{What: name + ": endpoint"}
	addrs, err := proc.Listening(pid)
	if err != nil {
		k.Why = err.Error()
		return k
	}
	own := proc.OwnListening(pid)[pid]
	at, agent := record.Endpoint(ctx, own)
	switch {
	case len(addrs) > 0 && len(own) == 0:
		k.Why = "it has a network of its own, as in a container, which only a recording enters"
		k.How = fmt.Sprintf("sudo gowhy record --pid %d", pid)
	case at != "" && agent:
		k.OK, k.Is = true, "the agent at "+at
	case at != "":
		k.OK, k.Is = true, at
		k.Why = "without the agent there are no metrics, and block and mutex profiles only where the program sets their rates"
		k.How = `import _ "github.com/gowhy/gowhy/agent"`
	case len(addrs) == 0 && !record.PortsShown(pid):
		k.Why = "its ports may not be looked at, for it is another user's"
		k.How = fmt.Sprintf("sudo gowhy doctor --pid %d", pid)
	default:
		k.Why = "no profiling handlers: no trace and no profiles of the runtime"
		if len(addrs) > 0 {
			k.Why += "; it listens at " + strings.Join(addrs, ", ")
		}
		k.How = `import _ "github.com/gowhy/gowhy/agent" or _ "net/http/pprof" in the program and serve HTTP`
	}
	return k
}

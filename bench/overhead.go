package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// What recording costs is measured on a program that works without pause and
// counts what it finished. A window of it without a recorder and windows with
// one source each, and with all of them, follow one another in random order;
// each of these is compared with the window without of its own round. CPU per
// operation is the program's own and needs no quiet machine; the recorder's
// CPU is stated beside it, as the share of the program's.

// A recorded is what the recorder is asked for in one window.
type recorded struct {
	name  string
	flags []string // of gowhy record; nil is no recorder
}

// recordings are the windows of a round. The first is the one without.
var recordings = []recorded{
	{unrecorded, nil},
	{"proc", only("proc")},
	{"kernel", only("kernel")},
	{"offcpu", only("offcpu")},
	{"syscalls", []string{"--without", "trace,cpu,heap,allocs,block,mutex,goroutine,threadcreate,goroutineleak,metrics,build,proc,kernel,offcpu"}},
	{"every syscall", only("syscalls")},
	{"metrics", only("metrics")},
	{"cpu", only("cpu")},
	{"heap", only("heap,allocs")},
	{"block", only("block")},
	{"mutex", only("mutex")},
	{"goroutine", only("goroutine,threadcreate")},
	{"trace", only("trace")},
	{withoutTrace, []string{"--without", "trace"}},
	{withTrace, []string{}},
	{watched, []string{"top", "--json"}},
	{beside, nil},
	{looked, lookFlags},
	{lookedBeside, lookFlags},
}

func only(sources string) []string { return []string{"--sources", sources} }

// unrecorded is the window that the others are compared with.
const unrecorded = "nothing"

// watched is the window in which gowhy top looks at the program and judges it, as
// it does all the time. It has looked for a while before.
const (
	watched     = "gowhy top"
	watchBefore = 12 * time.Second
)

// beside is the window in which another program takes as much CPU as gowhy top does and
// looks at nothing: what it costs to share the machine.
const (
	beside      = "another program"
	besideCores = 0.012
	besideTurn  = 500 * time.Millisecond // gowhy top wakes as often
	besideBytes = 4 << 20                // that it reads each time
)

// looked is the window in which who holds the program's heap is read, one look behind the other;
// lookedBeside that in which the same is read of a twin that stands still: what it costs to share the
// machine with somebody who reads as much.
const (
	looked       = "holders"
	lookedBeside = "a twin's holders"
)

var lookFlags = []string{"memory", "--holders", "--format", "json"}

// everything but the trace, and the trace, are what the budget is about.
const (
	withoutTrace = "all but the trace"
	withTrace    = "all"
)

// A Window is one stretch of a target's life.
type Window struct {
	Target   string  `json:"target"`
	Recorded string  `json:"recorded"`
	Round    int     `json:"round"`
	Ops      int64   `json:"ops"`
	CPU      float64 `json:"cpu_s"`
	Wall     float64 `json:"wall_s"`
	Recorder float64 `json:"recorder_cpu_s"`
	Looks    int     `json:"looks,omitempty"` // at who holds its heap
	Bytes    int64   `json:"recording_bytes"`
}

// An Overhead is all that was found about the cost of recording.
type Overhead struct {
	Schema  int       `json:"schema"`
	Date    string    `json:"date"`
	Machine Machine   `json:"machine"`
	Rounds  int       `json:"rounds"`
	Seconds float64   `json:"window_s"`
	Rows    []CostRow `json:"rows"`
	Windows []Window  `json:"windows"`
}

// A CostRow is what one source costs one target; ratios to the window without
// a recorder in the same round.
type CostRow struct {
	Target   string  `json:"target"`
	Recorded string  `json:"recorded"`
	CPUPerOp Spread  `json:"cpu_per_op"`     // the target's
	Rate     Spread  `json:"ops_per_second"` // of the target
	Recorder Spread  `json:"recorder_cpu"`   // share of the target's CPU
	Bytes    float64 `json:"bytes_per_second"`
}

// measureOverhead measures what recording costs and writes it to a run's directory.
func measureOverhead(ctx context.Context, o options, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "gowhy-overhead-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gowhy := filepath.Join(dir, "gowhy")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", gowhy, "github.com/gowhy/gowhy/cmd/gowhy").CombinedOutput(); err != nil {
		return fmt.Errorf("building gowhy: %w: %s", err, firstLine(string(out)))
	}
	m := overheadSession{options: o, gowhy: gowhy, dir: dir, progress: stderr}
	for _, t := range targets {
		if o.kinds != "" && !slices.Contains(split(o.kinds), t.name) {
			continue
		}
		if err := m.target(ctx, t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if len(m.windows) == 0 {
		return fmt.Errorf("-kinds %q names none of the programs that are recorded: %s", o.kinds, targetNames())
	}
	result := newOverhead(o, m.windows)
	if o.out == "" {
		return result.writeReport(stdout)
	}
	to, err := result.save(o.out)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", to)
	return result.writeReport(stdout)
}

type overheadSession struct {
	options
	gowhy, dir string
	progress   io.Writer
	windows    []Window
}

// target measures one program in all windows of all rounds.
func (s *overheadSession) target(ctx context.Context, t target) error {
	p, err := startTarget(ctx, t)
	if err != nil {
		return err
	}
	defer p.end()
	if s.wants(lookedBeside) {
		if p.twin, err = s.standingTwin(ctx, t, p); err != nil {
			return err
		}
		defer p.twin.end()
	}
	random := rand.New(rand.NewPCG(s.seed, uint64(len(s.windows))))
	if _, err := s.window(ctx, p, recordings[0]); err != nil { // warms up what is only slow at first
		return err
	}
	for round := range s.rounds {
		for _, i := range random.Perm(len(recordings)) {
			if !s.wants(recordings[i].name) {
				continue
			}
			w, err := s.window(ctx, p, recordings[i])
			if err != nil {
				return err
			}
			w.Target, w.Round = t.name, round
			s.windows = append(s.windows, w)
			fmt.Fprintf(s.progress, "round %d/%d  %-10s %-18s %8.3f µs CPU an operation, recorder %.1f %%\n", round+1, s.rounds,
				t.name, w.Recorded, w.CPU*1e6/float64(w.Ops), 100*w.Recorder/w.CPU)
		}
	}
	return nil
}

// wants reports whether a window of that name was asked for.
func (s *overheadSession) wants(name string) bool {
	return s.peers == "" || name == unrecorded || slices.Contains(split(s.peers), name)
}

// standingTwin starts another of a target, lets it come as far, and stops it.
func (s *overheadSession) standingTwin(ctx context.Context, t target, of *targetProcess) (*targetProcess, error) {
	if err := stopProcess(of.cmd.Process); err != nil {
		return nil, err
	}
	twin, err := startTarget(ctx, t)
	if err != nil {
		return nil, err
	}
	_, err = s.window(ctx, twin, recordings[0])
	if err = errors.Join(err, stopProcess(twin.cmd.Process), continueProcess(of.cmd.Process)); err != nil {
		twin.end()
		return nil, err
	}
	return twin, nil
}

// window lets the program work for a while, recorded or not.
func (s *overheadSession) window(ctx context.Context, p *targetProcess, r recorded) (Window, error) {
	var top *exec.Cmd
	switch r.name {
	case watched:
		top = exec.CommandContext(ctx, s.gowhy, append(r.flags, strconv.Itoa(p.cmd.Process.Pid))...)
	case beside:
		self, err := os.Executable()
		if err != nil {
			return Window{}, err
		}
		top = exec.CommandContext(ctx, self, "-beside")
	}
	if top != nil {
		top.Env = cleanEnv()
		if err := top.Start(); err != nil {
			return Window{}, err
		}
		defer func() { top.Process.Kill(); top.Wait() }()
		time.Sleep(watchBefore)
	}
	before, err := p.count(ctx)
	if err != nil {
		return Window{}, err
	}
	w := Window{Recorded: r.name}
	if r.name == looked || r.name == lookedBeside {
		of := p
		if r.name == lookedBeside {
			of = p.twin
		}
		if err := s.look(ctx, of, r.flags, &w); err != nil {
			return w, err
		}
	} else if top != nil {
		share, err := coresOf(top.Process.Pid, s.windowed)
		if err != nil {
			return w, err
		}
		w.Recorder = share * s.windowed.Seconds()
	} else if r.flags == nil {
		select {
		case <-time.After(s.windowed):
		case <-ctx.Done():
			return w, ctx.Err()
		}
	} else if err := s.record(ctx, p, r, &w); err != nil {
		return w, err
	}
	after, err := p.count(ctx)
	if err != nil {
		return w, err
	}
	w.Ops, w.CPU, w.Wall = after.Ops-before.Ops, after.CPU-before.CPU, after.At-before.At
	if w.Ops <= 0 || w.CPU <= 0 {
		return w, errors.New("the program did not work")
	}
	return w, nil
}

// look reads who holds a program's heap until the window is over, and counts the looks that ended.
func (s *overheadSession) look(ctx context.Context, p *targetProcess, flags []string, w *Window) error {
	over, cancel := context.WithTimeout(ctx, s.windowed)
	defer cancel()
	for over.Err() == nil {
		cmd := exec.CommandContext(over, s.gowhy, append(slices.Clone(flags), strconv.Itoa(p.cmd.Process.Pid))...)
		cmd.Env = cleanEnv()
		text, err := cmd.CombinedOutput()
		if err != nil && over.Err() == nil {
			return fmt.Errorf("%s: %w: %s", w.Recorded, err, text)
		}
		w.Recorder += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		if err == nil {
			w.Looks++
		}
	}
	return ctx.Err()
}

// busy takes a part of a core, in turns, until it is killed.
func busy(part float64) error {
	memory := make([]byte, besideBytes)
	for at := 0; ; time.Sleep(besideTurn) {
		for end := time.Now().Add(time.Duration(part * float64(besideTurn))); time.Now().Before(end); {
			for range 1000 {
				memory[at]++
				at = (at + 64) % len(memory)
			}
		}
	}
}

func (s *overheadSession) record(ctx context.Context, p *targetProcess, r recorded, w *Window) error {
	out := filepath.Join(s.dir, "run.gowhy")
	args := append([]string{"record", "-o", out, "-d", s.windowed.String(), "--no-diagnose", "--url", p.url}, r.flags...)
	cmd := exec.CommandContext(ctx, s.gowhy, args...)
	cmd.Env = cleanEnv()
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("recording %s: %w: %s", r.name, err, text)
	}
	w.Recorder = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	w.Bytes = info.Size()
	return os.Remove(out)
}

// A targetProcess is a running target.
type targetProcess struct {
	cmd  *exec.Cmd
	url  string
	twin *targetProcess // stands still
}

// A tally is what a target says of itself.
type tally struct {
	Ops int64   `json:"ops"`
	CPU float64 `json:"cpu_s"`
	At  float64 `json:"at_s"` // since its start
}

func startTarget(ctx context.Context, t target) (*targetProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-target", t.name)
	cmd.Env, cmd.Stderr = cleanEnv(), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &targetProcess{cmd: cmd}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.end()
		return nil, fmt.Errorf("the program did not start: %w", err)
	}
	p.url = strings.TrimSpace(url)
	return p, nil
}

func (p *targetProcess) end() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.cmd.Wait()
}

func (p *targetProcess) count(ctx context.Context) (c tally, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/count", nil)
	if err != nil {
		return c, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return c, err
	}
	defer resp.Body.Close()
	return c, json.NewDecoder(resp.Body).Decode(&c)
}

func newOverhead(o options, windows []Window) *Overhead {
	r := &Overhead{
		Schema: schema, Date: time.Now().Format(time.DateOnly), Machine: thisMachine(),
		Rounds: o.rounds, Seconds: o.windowed.Seconds(), Windows: windows,
	}
	for _, t := range targets {
		for _, rec := range recordings[1:] {
			if row, ok := costRow(windows, t.name, rec.name); ok {
				r.Rows = append(r.Rows, row)
			}
		}
	}
	return r
}

// costRow pairs the windows of one recording with those without of the same round.
func costRow(windows []Window, target, name string) (CostRow, bool) {
	row := CostRow{Target: target, Recorded: name}
	var cpu, rate, recorder, bytes []float64
	for _, w := range windows {
		if w.Target != target || w.Recorded != name {
			continue
		}
		for _, base := range windows {
			if base.Target != target || base.Recorded != unrecorded || base.Round != w.Round {
				continue
			}
			cpu = append(cpu, w.CPU/float64(w.Ops)/(base.CPU/float64(base.Ops)))
			rate = append(rate, float64(w.Ops)/w.Wall/(float64(base.Ops)/base.Wall))
		}
		recorder, bytes = append(recorder, w.Recorder/w.CPU), append(bytes, float64(w.Bytes)/w.Wall)
	}
	if len(cpu) == 0 {
		return row, false
	}
	row.CPUPerOp, row.Rate, row.Recorder, row.Bytes = spread(cpu), spread(rate), spread(recorder), statistics.Median(bytes)
	return row, true
}

// overheadFile is what an overhead's figures are called in a run's directory.
const overheadFile = "overhead.json"

// save writes the figures and their report into a directory of their own.
func (r *Overhead) save(parent string) (string, error) {
	return saveRun(parent, r.Date+"-overhead", r.Machine, overheadFile, r, r.writeReport)
}

// budget is what recording without the trace may add to the program's CPU.
const budget = 0.03

// writeReport writes the figures as Markdown.
func (r *Overhead) writeReport(w io.Writer) error {
	b := bufio.NewWriter(w)
	m := r.Machine
	fmt.Fprintf(b, "# What recording costs, %s\n\n", r.Date)
	fmt.Fprintf(b, "%s/%s, %d cores, %s, %.0f GB of memory, %s. %d rounds of windows of %.0f s.\n\n",
		m.OS, m.Arch, m.Cores, cmpOr(m.CPU, "CPU not known"), float64(m.Memory)/1e9, m.Go, r.Rounds, r.Seconds)
	fmt.Fprint(b, "CPU per operation and operations per second are the recorded program's, as ratios to its window without a recorder in the same round; median with the least and the largest. The recorder's own CPU is its share of the program's. The budget is 1.03 times the CPU per operation for everything but the execution trace.\n\n")
	r.writeSummary(b)
	for _, t := range targets {
		rows := slices.DeleteFunc(slices.Clone(r.Rows), func(c CostRow) bool { return c.Target != t.name })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(b, "## %s\n\n%s\n\n| recorded | CPU per operation | operations per second | recorder's CPU | MB/s |\n|---|---:|---:|---:|---:|\n", t.name, t.doc)
		for _, c := range rows {
			fmt.Fprintf(b, "| %s | %s | %s | %.1f %% | %.2f |\n", c.Recorded, span(c.CPUPerOp), span(c.Rate), 100*c.Recorder.Median, c.Bytes/1e6)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

// writeSummary writes a line for each program: everything, without and with the
// trace.
func (r *Overhead) writeSummary(w io.Writer) {
	fmt.Fprint(w, "## Everything at once\n\n| program | CPU per operation, all but the trace | budget of 1.03 | with the trace | recorder's CPU |\n|---|---:|---|---:|---:|\n")
	for _, t := range targets {
		without, with := r.row(t.name, withoutTrace), r.row(t.name, withTrace)
		if without == nil || with == nil {
			continue
		}
		verdict := "met"
		if without.CPUPerOp.Median > 1+budget {
			verdict = "missed"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %.1f %% |\n", t.name, span(without.CPUPerOp), verdict, span(with.CPUPerOp), 100*with.Recorder.Median)
	}
	fmt.Fprintln(w)
}

func (r *Overhead) row(target, name string) *CostRow {
	i := slices.IndexFunc(r.Rows, func(c CostRow) bool { return c.Target == target && c.Recorded == name })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// span prints a ratio near 1 with its extremes.
func span(s Spread) string { return fmt.Sprintf("%.3f (%.3f–%.3f)", s.Median, s.Low, s.High) }

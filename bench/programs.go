package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/testing/pty"
)

// sleeperText is a Go program that does nothing, as most of a machine's do at most times.
const sleeperText = `package main

import "time"

func main() { time.Sleep(24 * time.Hour) }
`

// marks are after how long the monitors are looked at.
var marks = []time.Duration{20 * time.Second, time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute}

// errNotAlone is where a process cannot have a namespace.
var errNotAlone = errors.New("no namespace of processes to be had")

// aloneWord says that this process is in a namespace of its own.
const aloneWord = "GOWHY_BENCH_ALONE"

// Programs are what monitors take beside many Go programs that sleep, each on a terminal
// of 200 by 60; htop at the same time as gowhy top.
type Programs struct {
	Date     string
	Machine  Machine
	Programs int
	Alone    bool // there were no others
	Rows     []ProgramsRow
}

// A ProgramsRow is one monitor beside programs of so many files.
type ProgramsRow struct {
	Monitor string
	Files   int
	Marks   []Mark
}

// A Mark is what a monitor had after some time.
type Mark struct {
	After       time.Duration
	Resident    int64 // bytes
	Own         int64 // of these, what is no page of a file
	Descriptors int
	CPU         float64 // of a core, since the mark before
}

// measurePrograms measures monitors beside programs of one file, and of a third as many.
func measurePrograms(ctx context.Context, o options, stdout, stderr io.Writer) error {
	if os.Getenv(aloneWord) == "" {
		if err := runAlone(ctx, os.Args[1:], stdout, stderr); !errors.Is(err, errNotAlone) {
			return err
		}
		fmt.Fprintln(stderr, errNotAlone, "so that the programs of this machine count, too")
	}
	dir, err := os.MkdirTemp("", "gowhy-programs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gowhy, sleeper := filepath.Join(dir, "gowhy"), filepath.Join(dir, "sleeper")
	source := sleeper + ".go"
	if err := os.WriteFile(source, []byte(sleeperText), 0o600); err != nil {
		return err
	}
	for to, of := range map[string]string{gowhy: "github.com/gowhy/gowhy/cmd/gowhy", sleeper: source} {
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", to, of).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", of, err, firstLine(string(out)))
		}
	}
	p := Programs{Date: time.Now().Format("2006-01-02"), Machine: thisMachine(), Programs: o.programs, Alone: os.Getenv(aloneWord) != ""}
	top := []monitor{{"gowhy top", []string{gowhy, "top"}}}
	if _, err := exec.LookPath("htop"); err == nil {
		top = append(top, monitor{"htop -d 10", []string{"htop", "-d", "10"}})
	}
	// One gowhy at a time: they would judge each other.
	view := []monitor{{"gowhy view --live", []string{gowhy, "view", "--live", "--no-open", "--addr", "127.0.0.1:0"}}}
	for _, files := range []int{1, max(1, o.programs/3)} {
		for _, monitors := range [][]monitor{top, view} {
			if err := p.beside(ctx, o, sleeper, files, monitors, stderr); err != nil {
				return err
			}
		}
	}
	if o.out == "" {
		return p.writeReport(stdout)
	}
	to, err := saveRun(o.out, p.Date+"-programs", p.Machine, "programs.json", p, p.writeReport)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", to)
	return p.writeReport(stdout)
}

// beside starts programs of so many files, and the monitors.
func (p *Programs) beside(ctx context.Context, o options, sleeper string, files int, monitors []monitor, stderr io.Writer) error {
	text, err := os.ReadFile(sleeper)
	if err != nil {
		return err
	}
	for i := range p.Programs {
		path := fmt.Sprintf("%s-%d-of-%d", sleeper, i%files, files)
		if i < files {
			if err := os.WriteFile(path, append(slices.Clip(text), strconv.Itoa(i)...), 0o700); err != nil {
				return err
			}
		}
		c := exec.CommandContext(ctx, path)
		c.Env = append(os.Environ(), "GOMAXPROCS=1")
		if err := c.Start(); err != nil {
			return err
		}
		defer func() { c.Process.Kill(); c.Wait() }()
	}
	time.Sleep(settle)
	rows, pids := make([]ProgramsRow, len(monitors)), make([]int, len(monitors))
	began := time.Now()
	for i, m := range monitors {
		rows[i] = ProgramsRow{Monitor: m.name, Files: files}
		pid, end, err := onTerminal(ctx, m)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		defer end()
		pids[i] = pid
	}
	last := make([]look, len(monitors))
	for _, after := range marks {
		if after > o.minutes {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(began.Add(after))):
		}
		for i := range monitors {
			now, err := lookAt(pids[i])
			if err != nil {
				return fmt.Errorf("%s: %w", monitors[i].name, err)
			}
			m := Mark{After: after, Resident: now.resident, Own: now.own, Descriptors: now.descriptors, CPU: (now.cpu - last[i].cpu).Seconds() / now.at.Sub(begin(last[i].at, began)).Seconds()}
			rows[i].Marks, last[i] = append(rows[i].Marks, m), now
			fmt.Fprintf(stderr, "%d files, after %v: %s has %d MB, %d descriptors, %.2f %% of a core\n", files, after, monitors[i].name, m.Resident/1e6, m.Descriptors, 100*m.CPU)
		}
	}
	p.Rows = append(p.Rows, rows...)
	return nil
}

func begin(last, began time.Time) time.Time {
	if last.IsZero() {
		return began
	}
	return last
}

// onTerminal starts a monitor, until end is called.
func onTerminal(ctx context.Context, m monitor) (pid int, end func(), err error) {
	screen, err := pty.Open(200, 60)
	if err != nil {
		return 0, nil, err
	}
	c := exec.CommandContext(ctx, m.args[0], m.args[1:]...)
	c.Env = append(os.Environ(), "TERM=xterm-256color")
	if err := screen.Start(c); err != nil {
		screen.Close()
		return 0, nil, err
	}
	go io.Copy(io.Discard, screen.Master)
	return c.Process.Pid, func() { c.Process.Kill(); c.Wait(); screen.Close() }, nil
}

// A look is what a process had at a moment.
type look struct {
	at            time.Time
	cpu           time.Duration
	resident, own int64
	descriptors   int
}

// writeReport writes the figures as Markdown.
func (p Programs) writeReport(to io.Writer) error {
	b := bufio.NewWriter(to)
	m := p.Machine
	fmt.Fprintf(b, "# What watching many programs takes, %s\n\n", p.Date)
	fmt.Fprintf(b, "%s/%s, %d cores, %s, %.0f GB of memory, %s.\n\n", m.OS, m.Arch, m.Cores, cmpOr(m.CPU, "CPU not known"), float64(m.Memory)/1e9, m.Go)
	where := "in a namespace of processes of their own"
	if !p.Alone {
		where = "beside all that the machine does"
	}
	fmt.Fprintf(b, "Monitors beside %d Go programs that sleep, once a second, %s; htop at the same time as gowhy top. What is a monitor's own is without pages of files. CPU is since the line before.\n\n", p.Programs, where)
	fmt.Fprint(b, "| monitor | files | after | resident | its own | descriptors | of a core |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, r := range p.Rows {
		for _, m := range r.Marks {
			fmt.Fprintf(b, "| %s | %d | %v | %.0f MB | %.0f MB | %d | %.2f %% |\n", r.Monitor, r.Files, m.After, float64(m.Resident)/1e6, float64(m.Own)/1e6, m.Descriptors, 100*m.CPU)
		}
	}
	return b.Flush()
}

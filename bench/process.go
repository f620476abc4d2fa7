package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A process is one measured run of a program.
type process struct {
	argv    []string
	oneCore bool // pinned to one CPU, with GOMAXPROCS=1
	timeout time.Duration
	memory  int64 // bytes resident; more ends it
}

// A usage is what a process took. When failure is not empty the process did
// not finish, and its figures are what it had taken by then.
type usage struct {
	cpu, wall time.Duration
	rss       int64   // peak
	others    float64 // CPUs that the rest of the machine used meanwhile; -1 when not known
	failure   string
	stdout    []byte
}

// watchEvery is how often a process's memory is looked at. A hundred times a
// second costs the machine less than a thousandth.
const watchEvery = 10 * time.Millisecond

// machineTick is how finely machineCPU counts; two readings may be wrong by as much each.
const machineTick = 10 * time.Millisecond

// measure runs p to its end or its limits. The error is for what kept it from
// running at all and for a cancelled ctx.
func (p process) measure(ctx context.Context) (usage, error) {
	limited, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, p.argv[0], p.argv[1:]...)
	cmd.Env = cleanEnv()
	if p.oneCore {
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	stdout, stderr := head{max: 1 << 20}, head{max: 4 << 10}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr

	busy := machineCPU()
	begin := time.Now()
	if err := startPinned(cmd, p.oneCore); err != nil {
		return usage{}, err
	}
	inherited := peakOf("self") // at least what it was at the fork; see peakMemory
	seen, tooLarge := make(chan int64), make(chan struct{}, 1)
	done := make(chan struct{})
	go func() { seen <- watch(cmd.Process, p.memory, done, tooLarge) }()
	err := cmd.Wait()
	u := usage{wall: time.Since(begin), others: -1}
	close(done)
	u.rss = peakMemory(cmd.ProcessState, inherited, <-seen)
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if after := machineCPU(); busy >= 0 && after >= 0 {
		u.others = max(0, (after-busy-u.cpu-2*machineTick).Seconds()/u.wall.Seconds())
	}
	u.stdout = stdout.b.Bytes()

	switch {
	case ctx.Err() != nil:
		return u, ctx.Err()
	case len(tooLarge) > 0:
		u.failure = fmt.Sprintf("ended at %d MB resident", p.memory/1e6)
	case limited.Err() != nil:
		u.failure = fmt.Sprintf("ended after %v", p.timeout)
	case err != nil:
		u.failure = strings.TrimSpace(fmt.Sprintf("%v: %s", err, firstLine(stderr.b.String())))
	}
	return u, nil
}

// watch returns the largest peak memory it saw before done, and ends the
// process when it is over the limit.
func watch(p *os.Process, limit int64, done <-chan struct{}, tooLarge chan<- struct{}) (peak int64) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		peak = max(peak, peakOf(fmt.Sprint(p.Pid)))
		if limit > 0 && peak > limit {
			select {
			case tooLarge <- struct{}{}:
				_ = p.Kill() // it may have ended by itself
			default:
			}
		}
		select {
		case <-tick.C:
		case <-done:
			return peak
		}
	}
}

// peakMemory returns the peak of a process that has ended. The kernel hands the
// peak of the process that forked down to the one it executes, so what wait
// reports tells nothing when it is not above that; then it is what watching saw.
func peakMemory(state *os.ProcessState, inherited, seen int64) int64 {
	if waited := maxRSS(state); waited > inherited || seen == 0 {
		return waited
	}
	return seen
}

// cleanEnv returns the environment without what changes how a Go program runs.
func cleanEnv() []string {
	var env []string
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GOCOVERDIR":
		default:
			env = append(env, kv)
		}
	}
	return env
}

// A head keeps the first max bytes written to it.
type head struct {
	b   bytes.Buffer
	max int
}

// Write implements [io.Writer].
func (h *head) Write(b []byte) (int, error) {
	h.b.Write(b[:min(len(b), h.max-h.b.Len())])
	return len(b), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

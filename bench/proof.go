package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// How often is gowhy verify wrong, and what does it find? A program is compared
// with itself many times: every verdict but "same" and "inconclusive" is false.
// Then with itself and more work, of known size: every other verdict misses it.
// Comparisons of all kinds come in random order, so that an hour of a noisy
// neighbour is nobody's own.

// A question is one kind of comparison.
type question struct {
	name    string
	primary string
	b       []string // flags of arm B's planted program
	busy    bool     // while neighbours come and go
	share   float64  // of the comparisons asked for
	want    string   // the verdict that is right
}

var questions = []question{
	{"the same, busy machine", "cpu/op", nil, true, 0.5, ""},
	{"the same, busy machine", "elapsed", nil, true, 0.5, ""},
	{"the same, quiet machine", "cpu/op", nil, false, 0.15, ""},
	{"the same, quiet machine", "elapsed", nil, false, 0.15, ""},
	{"5 % more work", "cpu/op", []string{"-effect", "0.05"}, false, 0.08, regressed},
	{"10 % more work", "cpu/op", []string{"-effect", "0.1"}, false, 0.08, regressed},
	{"20 % more work", "cpu/op", []string{"-effect", "0.2"}, false, 0.08, regressed},
	{"30 % more work", "cpu/op", []string{"-effect", "0.3"}, false, 0.08, regressed},
	{"5 % more work", "elapsed", []string{"-effect", "0.05"}, false, 0.08, regressed},
	{"10 % more work", "elapsed", []string{"-effect", "0.1"}, false, 0.08, regressed},
	{"20 % more work", "elapsed", []string{"-effect", "0.2"}, false, 0.08, regressed},
	{"30 % more work", "elapsed", []string{"-effect", "0.3"}, false, 0.08, regressed},
	{"1 % more allocations", "allocs/op", []string{"-allocs", "0.01"}, false, 0.08, regressed},
}

// The verdicts that claim an effect.
const (
	improved  = "improved"
	regressed = "regressed"
)

// A Comparison is one run of gowhy verify.
type Comparison struct {
	Question string  `json:"question"`
	Primary  string  `json:"primary"`
	Busy     bool    `json:"busy"`
	Verdict  string  `json:"verdict"` // of the primary metric
	Ratio    float64 `json:"ratio"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Pairs    int     `json:"pairs"`
	Dropped  int     `json:"dropped"`
	Seconds  float64 `json:"seconds"`
	// Claims are the other metrics that were called improved or regressed.
	Claims []string `json:"claims,omitempty"`
}

// A Proof is all that was found.
type Proof struct {
	Schema      int          `json:"schema"`
	Date        string       `json:"date"`
	Machine     Machine      `json:"machine"`
	Comparisons []Comparison `json:"comparisons"`
}

// measureProof asks every question as often as wanted.
func measureProof(ctx context.Context, o options, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "gowhy-proof-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &proofSession{gowhy: filepath.Join(dir, "gowhy"), program: filepath.Join(dir, "planted")}
	for out, pkg := range map[string]string{s.gowhy: "cmd/gowhy", s.program: "bench"} {
		if text, err := exec.CommandContext(ctx, "go", "build", "-o", out, "github.com/gowhy/gowhy/"+pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", pkg, err, firstLine(string(text)))
		}
	}
	asked := comparisons(o)
	p := &Proof{Schema: schema, Date: time.Now().Format(time.DateOnly), Machine: thisMachine()}
	for i, q := range asked {
		c, err := s.ask(ctx, q, o.seed+uint64(i))
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		p.Comparisons = append(p.Comparisons, c)
		fmt.Fprintf(stderr, "%d/%d  %-24s %-10s %-13s ×%.3f, %d pairs, %.1f s %s\n", i+1, len(asked),
			q.name, q.primary, c.Verdict, c.Ratio, c.Pairs, c.Seconds, strings.Join(c.Claims, " "))
	}
	if o.out == "" {
		return p.writeReport(stdout)
	}
	to, err := p.save(o.out)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", to)
	return p.writeReport(stdout)
}

// comparisons returns all comparisons to make, in the order in which they are made.
func comparisons(o options) (list []question) {
	for _, q := range questions {
		if o.kinds != "" && !slices.ContainsFunc(split(o.kinds), func(k string) bool { return strings.Contains(q.name, k) }) {
			continue
		}
		for range int(math.Ceil(q.share * float64(o.comparisons))) {
			list = append(list, q)
		}
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

type proofSession struct{ gowhy, program string }

// ask runs gowhy verify once.
func (s *proofSession) ask(ctx context.Context, q question, seed uint64) (Comparison, error) {
	if q.busy {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for n := range runtime.NumCPU() {
			go neighbour(ctx, seed+uint64(n))
		}
	}
	b := strings.Join(append([]string{s.program, plantedWord, "-as", "b"}, q.b...), " ")
	args := []string{
		"verify", "--json", "--primary", q.primary, "--seed", fmt.Sprint(seed), "--ops", fmt.Sprint(plantedOps),
		"--a", strings.Join([]string{s.program, plantedWord, "-as", "a"}, " "), "--b", b,
	}
	if q.primary != "allocs/op" {
		args = append(args, "--no-count")
	}
	cmd := exec.CommandContext(ctx, s.gowhy, args...)
	cmd.Env = cleanEnv()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 4 && code != 5 {
		return Comparison{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return newComparison(q, stdout.Bytes(), time.Since(begin))
}

// newComparison reads what gowhy verify --json printed.
func newComparison(q question, text []byte, took time.Duration) (Comparison, error) {
	var trial struct {
		Pairs, Dropped int
		Effects        []struct {
			Metric, Verdict  string
			Ratio, Low, High float64
		}
	}
	if err := json.Unmarshal(text, &trial); err != nil {
		return Comparison{}, err
	}
	c := Comparison{Question: q.name, Primary: q.primary, Busy: q.busy, Pairs: trial.Pairs, Dropped: trial.Dropped, Seconds: took.Seconds()}
	for _, e := range trial.Effects {
		switch {
		case e.Metric == q.primary:
			c.Verdict, c.Ratio, c.Low, c.High = e.Verdict, e.Ratio, e.Low, e.High
		case e.Verdict == improved || e.Verdict == regressed:
			c.Claims = append(c.Claims, e.Metric+" "+e.Verdict)
		}
	}
	if c.Verdict == "" {
		return c, fmt.Errorf("the trial has no verdict of %s", q.primary)
	}
	return c, nil
}

// neighbour keeps a CPU busy in bursts of random length, as other people's
// programs do.
func neighbour(ctx context.Context, seed uint64) {
	random, block := rand.New(rand.NewPCG(seed, 1)), make([]byte, 64<<10)
	for ctx.Err() == nil {
		until := time.Now().Add(time.Duration(50+random.IntN(1000)) * time.Millisecond)
		for ctx.Err() == nil && time.Now().Before(until) {
			_ = sha256.Sum256(block)
		}
		select {
		case <-time.After(time.Duration(50+random.IntN(700)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// An Answer sums up one question.
type Answer struct {
	question
	n, claims, right       int
	others                 int // comparisons in which another metric was called improved or regressed
	pairs, seconds, ratios []float64
}

func (p *Proof) answers() (list []Answer) {
	for _, q := range questions {
		a := Answer{question: q}
		for _, c := range p.Comparisons {
			if c.Question != q.name || c.Primary != q.primary {
				continue
			}
			a.n++
			a.pairs, a.seconds, a.ratios = append(a.pairs, float64(c.Pairs)), append(a.seconds, c.Seconds), append(a.ratios, c.Ratio)
			a.ratios = append(a.ratios, c.Ratio)
			if c.Verdict == improved || c.Verdict == regressed {
				a.claims++
			}
			if c.Verdict == q.want {
				a.right++
			}
			if len(c.Claims) > 0 {
				a.others++
			}
		}
		if a.n > 0 {
			list = append(list, a)
		}
	}
	return list
}

func share(k, n int) string {
	low, high := statistics.Wilson(k, n)
	return fmt.Sprintf("%d of %d (%.0f–%.0f %%)", k, n, 100*low, 100*high)
}

// proofFile is what the figures are called in a run's directory.
const proofFile = "proof.json"

// save writes the figures and their report into a directory of their own.
func (p *Proof) save(parent string) (string, error) {
	return saveRun(parent, p.Date+"-proof", p.Machine, proofFile, p, p.writeReport)
}

// writeReport writes the figures as Markdown.
func (p *Proof) writeReport(w io.Writer) error {
	b := bufio.NewWriter(w)
	m := p.Machine
	fmt.Fprintf(b, "# How often gowhy verify is wrong, %s\n\n", p.Date)
	fmt.Fprintf(b, "%s/%s, %d cores, %s, %.0f GB of memory, %s. Every comparison is a run of `gowhy verify` with what it does when nothing is said: looks at 10, 20 and 40 pairs. Shares have their 95 %% interval (Wilson).\n\n",
		m.OS, m.Arch, m.Cores, cmpOr(m.CPU, "CPU not known"), float64(m.Memory)/1e9, m.Go)
	answers := p.answers()
	fmt.Fprint(b, "## A program against itself\n\nEvery \"improved\" and \"regressed\" is false; at most 5 % are allowed. On the busy machine as many neighbours as there are cores work in bursts.\n\n| machine | primary metric | false verdicts | false verdicts of any other metric | pairs, median | seconds, median |\n|---|---|---:|---:|---:|---:|\n")
	for _, a := range answers {
		if a.want == "" {
			fmt.Fprintf(b, "| %s | %s | %s | %s | %.0f | %.1f |\n", a.name, a.primary, share(a.claims, a.n), share(a.others, a.n), statistics.Median(a.pairs), statistics.Median(a.seconds))
		}
	}
	fmt.Fprint(b, "\n## Planted effects\n\nThe work is more, the start of the process is not: ratios are somewhat smaller than what was planted.\n\n| planted | primary metric | found | ratio, median | pairs, median | seconds, median |\n|---|---|---:|---:|---:|---:|\n")
	for _, a := range answers {
		if a.want != "" {
			fmt.Fprintf(b, "| %s | %s | %s | ×%.3f | %.0f | %.1f |\n", a.name, a.primary, share(a.right, a.n), statistics.Median(a.ratios), statistics.Median(a.pairs), statistics.Median(a.seconds))
		}
	}
	return b.Flush()
}

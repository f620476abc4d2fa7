package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// Holders is what gowhy said of the programs of lab/holders, saved as holders.json.
type Holders struct {
	Schema  int            `json:"schema"`
	Taken   Provenance     `json:"taken"`
	Answers []HolderAnswer `json:"answers"`
}

// A HolderEvidence is where the memory was read.
type HolderEvidence string

// The kinds: out of the program that runs, and out of the core that it left.
const (
	HolderPID  HolderEvidence = "pid"
	HolderCore HolderEvidence = "core"
)

var holderEvidence = []HolderEvidence{HolderPID, HolderCore}

// A HolderAnswer is what gowhy said of one program from one kind of evidence.
type HolderAnswer struct {
	Program  string         `json:"program"`
	Release  string         `json:"release"` // of Go
	Evidence HolderEvidence `json:"evidence"`
	// Kind, Name and Way are of who was named first, Bytes what it holds; of a row of the
	// account its name alone.
	Kind  string `json:"kind,omitempty"`
	Name  string `json:"name,omitempty"`
	Way   string `json:"way,omitempty"`
	Bytes int64  `json:"bytes,omitempty"`
	// Reached is what all holders have, Marked what the last collection found alive, and Allocated what was
	// allocated since: bytes.
	Reached   int64 `json:"reached,omitempty"`
	Marked    int64 `json:"marked,omitempty"`
	Allocated int64 `json:"allocated,omitempty"`
	// Verdict and Findings are of those that are well.
	Verdict  string        `json:"verdict,omitempty"`
	Findings []WaitFinding `json:"findings,omitempty"`
	Failed   string        `json:"failed,omitempty"` // there is no answer
}

// rowKind is the kind of an answer that is a row of the account of memory.
const rowKind = "row"

func (o *options) holdersFile() string { return filepath.Join(filepath.Dir(o.out), "holders.json") }

func loadHolders(path string) (*Holders, error) {
	return loadAnswers(path, func(h *Holders) int { return h.Schema })
}

// save writes one answer a line, in the order of the truth.
func (h *Holders) save(path string, known *truth.Holders) error {
	place := func(a *HolderAnswer) int {
		return slices.IndexFunc(known.Programs, func(p truth.Holder) bool { return p.Name == a.Program })
	}
	slices.SortStableFunc(h.Answers, func(a, b HolderAnswer) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), cmp.Compare(a.Release, b.Release), cmp.Compare(slices.Index(holderEvidence, a.Evidence), slices.Index(holderEvidence, b.Evidence)))
	})
	return saveAnswers(path, h.Taken, h.Answers)
}

// scoreHolders runs the programs of lab/holders, asks about them, and writes HOLDERS.md.
func (o *options) scoreHolders(ctx context.Context) error {
	known, err := truth.ReadHolders(filepath.Join(o.lab, "holders"))
	if err != nil {
		return err
	}
	if o.from != "" {
		h, err := loadHolders(o.from)
		if err == nil && h == nil {
			err = fmt.Errorf("%s is not there", o.from)
		}
		if err != nil {
			return err
		}
		return o.holdersPage(h, known)
	}
	chosen, err := chooseNamed(known.Programs, o.cases, "lab/holders", func(p *truth.Holder) string { return p.Name })
	if err != nil {
		return err
	}
	old, err := loadHolders(o.holdersFile())
	if err != nil {
		return err
	}
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	r := &holderRunner{waitRunner: waitRunner{bed: bed}}
	h := &Holders{Schema: schema, Taken: o.provenance(ctx)}
	began := time.Now()
	if h.Answers, err = r.all(ctx, known.Dir, strings.Split(o.releases, ","), chosen); err != nil {
		return err
	}
	h.Taken.Rounds, h.Taken.Seed = 1, 0
	h.Taken.TookMins = float64(int(time.Since(began).Minutes()*10)) / 10
	if old != nil {
		h.Answers = withOthers(h.Answers, old.Answers, func(a *HolderAnswer) (string, bool) {
			return a.Program + a.Release + string(a.Evidence), known.Program(a.Program) != nil
		})
	}
	if err := h.save(o.holdersFile(), known); err != nil {
		return err
	}
	return o.holdersPage(h, known)
}

// A holderRunner runs programs of lab/holders, one after the other: their memory is the subject.
type holderRunner struct{ waitRunner }

func (r *holderRunner) all(ctx context.Context, dir string, releases []string, programs []truth.Holder) (answers []HolderAnswer, err error) {
	if _, err := r.bed.Gowhy(ctx); err != nil {
		return nil, err
	}
	p := &progress{began: time.Now(), n: len(releases) * len(programs), tty: isTerminal(os.Stderr)}
	defer p.clear()
	for n, release := range releases {
		program, name, err := buildWith(ctx, r.bed, dir, release)
		if err != nil {
			return nil, err
		}
		for i := range programs {
			p.tell(n*len(programs)+i, programs[i].Name)
			answers = append(answers, r.answers(ctx, program, name, &programs[i])...)
			if ctx.Err() != nil {
				return nil, interruptedError(len(answers)/len(holderEvidence), p.n)
			}
		}
	}
	return answers, nil
}

// ownRelease is the toolchain that builds the lab.
const ownRelease = "local"

// buildWith builds the programs with a release of Go, and returns what it calls itself. Other
// releases than the lab's own do not read its go.mod.
func buildWith(ctx context.Context, bed *testbed.Bed, dir, release string) (program, name string, err error) {
	room := filepath.Join(bed.Dir(), "holders-"+release)
	if err := os.MkdirAll(room, 0o755); err != nil {
		return "", "", err
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return "", "", err
	}
	for _, s := range sources {
		if strings.HasSuffix(s, "_test.go") {
			continue
		}
		b, err := os.ReadFile(s)
		if err != nil {
			return "", "", err
		}
		if err := os.WriteFile(filepath.Join(room, filepath.Base(s)), b, 0o644); err != nil {
			return "", "", err
		}
	}
	if err := os.WriteFile(filepath.Join(room, "go.mod"), []byte("module holders\n\ngo 1.22\n"), 0o644); err != nil {
		return "", "", err
	}
	program = filepath.Join(room, "holders")
	env := append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN="+release)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	version := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	build.Dir, build.Env, version.Dir, version.Env = room, env, room, env
	if text, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("go build with %s: %w\n%s", release, err, text)
	}
	text, err := version.Output()
	return program, strings.TrimSpace(string(text)), err
}

// answers returns what gowhy says of a program from each kind of evidence.
func (r *holderRunner) answers(ctx context.Context, program, release string, want *truth.Holder) (answers []HolderAnswer) {
	ctx, cancel := context.WithTimeout(ctx, holderLimit)
	defer cancel()
	dir, err := os.MkdirTemp(r.bed.Dir(), "held")
	if err == nil {
		defer os.RemoveAll(dir)
	}
	run := &holderRun{waitRun: waitRun{waitRunner: &r.waitRunner, name: want.Name, dir: dir}, want: want, program: program}
	for _, kind := range holderEvidence {
		a := HolderAnswer{Program: want.Name, Release: release, Evidence: kind}
		if err == nil {
			err = run.take(ctx, kind)
		}
		asked := err
		if asked == nil {
			asked = run.ask(ctx, kind, &a)
		}
		if errors.Is(asked, errNoCore) {
			break
		}
		if asked != nil {
			a.Failed = (&runner{bed: r.bed}).brief(asked)
		}
		answers = append(answers, a)
	}
	run.end()
	return answers
}

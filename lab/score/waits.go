package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// Waits is what gowhy said of the programs of lab/waits from each kind of evidence alone,
// saved as waits.json.
type Waits struct {
	Schema  int          `json:"schema"`
	Taken   Provenance   `json:"taken"`
	Answers []WaitAnswer `json:"answers"`
}

// A WaitEvidence is a kind of evidence of a program that waits.
type WaitEvidence string

// The kinds: what the program writes of itself, what it prints when it is ended by
// SIGQUIT, and what gowhy sees from outside.
const (
	WaitTrace   WaitEvidence = "trace"
	WaitDump    WaitEvidence = "dump"
	WaitProfile WaitEvidence = "profile"
	WaitPID     WaitEvidence = "pid"
	WaitLive    WaitEvidence = "live"
)

var waitEvidence = []WaitEvidence{WaitTrace, WaitDump, WaitProfile, WaitPID, WaitLive}

// ofMoment reports whether evidence is of one moment: it cannot tell whether what waits
// will go on.
func (e WaitEvidence) ofMoment() bool { return e == WaitDump || e == WaitProfile }

// A WaitAnswer is what gowhy said of one program from one kind of evidence.
type WaitAnswer struct {
	Program  string        `json:"program"`
	Evidence WaitEvidence  `json:"evidence"`
	Verdict  string        `json:"verdict"`
	Said     string        `json:"said"` // the summary, or the line of the live view
	Findings []WaitFinding `json:"findings,omitempty"`
	Failed   string        `json:"failed,omitempty"`
}

// A WaitFinding is one finding, as far as it is judged.
type WaitFinding struct {
	Rule    string      `json:"rule"`
	Remark  bool        `json:"remark,omitempty"`
	Summary string      `json:"summary"`
	Where   []WaitPlace `json:"where,omitempty"`
}

// A WaitPlace is a line of the program; the file is its base name.
type WaitPlace struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

func (o *options) waitsFile() string { return filepath.Join(filepath.Dir(o.out), "waits.json") }

// loadWaits reads saved answers; nil when there are none.
func loadWaits(path string) (*Waits, error) {
	return loadAnswers(path, func(w *Waits) int { return w.Schema })
}

// savedWaits returns the answers that lie beside the page, and what is true of the programs.
func (o *options) savedWaits() (w *Waits, known *truth.Waits, err error) {
	if w, err = loadWaits(o.waitsFile()); w == nil || err != nil {
		return nil, nil, err
	}
	known, err = truth.ReadWaits(filepath.Join(o.lab, "waits"))
	return w, known, err
}

// save writes one answer a line, in the order of the truth.
func (w *Waits) save(path string, known *truth.Waits) error {
	place := func(a *WaitAnswer) int {
		return slices.IndexFunc(known.Programs, func(p truth.Wait) bool { return p.Name == a.Program })
	}
	slices.SortStableFunc(w.Answers, func(a, b WaitAnswer) int {
		return cmp.Or(cmp.Compare(place(&a), place(&b)), cmp.Compare(slices.Index(waitEvidence, a.Evidence), slices.Index(waitEvidence, b.Evidence)))
	})
	return saveAnswers(path, w.Taken, w.Answers)
}

// waitsAtOnce is how many programs that only wait are looked at together for each CPU:
// that takes 40 s for each, and some seconds of CPU.
const waitsAtOnce = 5

// scoreWaits runs the programs of lab/waits, asks about them, and writes WAITS.md.
func (o *options) scoreWaits(ctx context.Context) error {
	known, err := truth.ReadWaits(filepath.Join(o.lab, "waits"))
	if err != nil {
		return err
	}
	if o.from != "" {
		w, err := loadWaits(o.from)
		if err == nil && w == nil {
			err = fmt.Errorf("%s is not there", o.from)
		}
		if err != nil {
			return err
		}
		return o.waitsPage(w, known)
	}
	chosen, err := chooseWaits(known, o.cases)
	if err != nil {
		return err
	}
	old, err := loadWaits(o.waitsFile())
	if err != nil {
		return err
	}
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	r := &waitRunner{bed: bed, keep: cmp.Or(o.rejudge, o.keep), again: o.rejudge != ""}
	w := &Waits{Schema: schema, Taken: o.provenance(ctx)}
	began := time.Now()
	if w.Answers, err = r.all(ctx, known.Dir, chosen); err != nil {
		return err
	}
	w.Taken.Rounds, w.Taken.Seed = 1, 0
	w.Taken.TookMins = float64(int(time.Since(began).Minutes()*10)) / 10
	if old != nil {
		w.Answers = withOthers(w.Answers, old.Answers, func(a *WaitAnswer) (string, bool) {
			return a.Program + string(a.Evidence), known.Program(a.Program) != nil
		})
	}
	if err := w.save(o.waitsFile(), known); err != nil {
		return err
	}
	return o.waitsPage(w, known)
}

// chooseWaits returns the programs of names, which may end in *; "" is all.
func chooseWaits(known *truth.Waits, names string) ([]truth.Wait, error) {
	return chooseNamed(known.Programs, names, "lab/waits", func(p *truth.Wait) string { return p.Name })
}

// all asks about programs: those that only wait together, then the others one by one.
func (r *waitRunner) all(ctx context.Context, dir string, programs []truth.Wait) (answers []WaitAnswer, err error) {
	program, err := r.bed.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	if _, err := r.bed.Gowhy(ctx); err != nil {
		return nil, err
	}
	p := &progress{began: time.Now(), n: len(programs), tty: isTerminal(os.Stderr)}
	defer p.clear()
	var mu sync.Mutex
	done := 0
	ask := func(one *truth.Wait, left func()) {
		these := r.answers(ctx, program, one, left)
		mu.Lock()
		defer mu.Unlock()
		answers = append(answers, these...)
		done++
		p.tell(done, one.Name)
	}
	var asking sync.WaitGroup
	places := make(chan struct{}, waitsAtOnce*cpus())
	for i := range programs {
		one := &programs[i]
		if one.Alone && !r.again {
			continue
		}
		places <- struct{}{}
		asking.Go(func() { ask(one, sync.OnceFunc(func() { <-places })) })
	}
	asking.Wait()
	for i := range programs {
		if one := &programs[i]; one.Alone && !r.again {
			ask(one, func() {})
		}
	}
	if ctx.Err() != nil {
		return nil, interruptedError(done, len(programs))
	}
	return answers, nil
}

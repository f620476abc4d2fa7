package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// Live is what gowhy top said of the lab's programs while they ran, saved as live.json.
type Live struct {
	Schema  int          `json:"schema"`
	Taken   Provenance   `json:"taken"`
	Anew    []Provenance `json:"anew,omitempty"` // what was watched again since, or only then
	Answers []LiveAnswer `json:"answers"`
}

// liveOptions are the flags of -live.
type liveOptions struct {
	sick, well time.Duration // how long programs are watched; 0 leaves them out
	trace      string        // one of liveTraces
	sample     int
	fresh      bool // only those without an answer
	atOnce     int  // well programs of any use; 0 puts together those of little
}

// liveTraces say which programs are watched with execution traces.
var liveTraces = []string{"none", "sick", "only", "all"}

// loadLive reads saved answers.
func loadLive(path string) (*Live, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := new(Live)
	if err := json.NewDecoder(io.LimitReader(f, maxResults)).Decode(l); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if l.Schema != schema {
		return nil, fmt.Errorf("%s: schema %d; wanted %d", path, l.Schema, schema)
	}
	return l, nil
}

// save writes one answer a line: a run that changed is a line that changed.
func (l *Live) save(path string) (err error) {
	slices.SortStableFunc(l.Answers, func(a, b LiveAnswer) int {
		return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), compareBool(b.Trace, a.Trace))
	})
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := writeHead(w, l.Taken, l.Anew); err != nil {
		return err
	}
	if err := lines(w, l.Answers); err != nil {
		return err
	}
	_, err = w.WriteString("]}\n")
	return err
}

// put takes an answer in the place of an older one.
func (l *Live) put(a LiveAnswer) {
	l.Answers = slices.DeleteFunc(l.Answers, func(b LiveAnswer) bool { return a.key() == b.key() })
	l.Answers = append(l.Answers, a)
}

// checkLive refuses flags that do not go with -live.
func (o *options) checkLive() error {
	l := &o.live
	switch {
	case o.short || o.prove || o.field || o.only != "" || o.rejudge != "":
		return errors.New("-live goes with -cases, -seed, -keep, -into, -from, -o, -lab and those that begin with -live")
	case !slices.Contains(liveTraces, l.trace):
		return fmt.Errorf("-live-trace %q is none of %q", l.trace, liveTraces)
	case l.sick != 0 && l.sick < liveLimit || l.well < 0 || l.sample < 0 || l.atOnce < 0:
		return fmt.Errorf("-live-time is 0 or at least %v; -live-healthy, -live-cases and -live-at-once are not negative", liveLimit)
	case l.fresh && o.into == "":
		return errors.New("-live-new goes with -into")
	}
	return nil
}

// scoreLive watches the lab's programs while they run, and writes the page of it. What
// was watched before an interrupt is kept: the page names what is missing.
func (o *options) scoreLive(ctx context.Context) error {
	if err := o.checkLive(); err != nil {
		return err
	}
	all, faults := truth.ReadAll(o.lab)
	if faults != nil {
		return faults
	}
	if o.from != "" {
		l, err := loadLive(o.from)
		if err != nil {
			return err
		}
		return o.livePage(l, all)
	}
	cases, err := choose(all, o.cases)
	if err != nil {
		return err
	}
	taken := o.provenance(ctx)
	taken.Rounds, taken.Only = 1, ""
	l := &Live{Schema: schema, Taken: taken}
	if o.into != "" {
		if l, err = loadLive(o.into); err != nil {
			return err
		}
		l.Anew = append(l.Anew, taken)
	}
	began := time.Now()
	err = o.watchAll(ctx, cases, l)
	took := float64(int(time.Since(began).Minutes()*10)) / 10
	if n := len(l.Anew); n > 0 {
		l.Anew[n-1].TookMins = took
	} else {
		l.Taken.TookMins = took
	}
	if len(l.Answers) == 0 && err != nil {
		return err
	}
	return errors.Join(err, l.save(o.resultsFile()), o.livePage(l, all))
}

// watchAll watches all programs of some cases.
func (o *options) watchAll(ctx context.Context, cases []*truth.Case, l *Live) error {
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	if err := build(ctx, bed, cases); err != nil {
		return err
	}
	sick, well, out := watchings(cases)
	for _, x := range out {
		fmt.Fprintf(o.say, "left out: %s: %s\n", x.what, x.why)
	}
	sick, well = sample(sick, o.live.sample, o.seed), sample(well, o.live.sample, o.seed)
	switch o.live.trace {
	case "none":
		sick = slices.DeleteFunc(sick, func(w watching) bool { return w.trace })
	case "only":
		sick = slices.DeleteFunc(sick, func(w watching) bool { return !w.trace })
	}
	if o.live.fresh {
		known := func(w watching) bool {
			return slices.ContainsFunc(l.Answers, func(a LiveAnswer) bool { return a.key() == w.key() })
		}
		sick, well = slices.DeleteFunc(sick, known), slices.DeleteFunc(well, known)
	}
	r := &liveRunner{bed: bed, keep: o.keep, took: map[string]time.Duration{}}
	if err := o.watchSick(ctx, r, sick, l); err != nil {
		return err
	}
	return o.watchWell(ctx, r, well, l)
}

// aroundLive is what a run takes beside being watched, and a program to be run once before.
const aroundLive = settle + farewell + 2*time.Second

// watchSick watches sick programs, one after the other.
func (o *options) watchSick(ctx context.Context, r *liveRunner, list []watching, l *Live) error {
	if o.live.sick == 0 || len(list) == 0 {
		return nil
	}
	fmt.Fprintf(os.Stderr, "score: %d sick programs, about %v\n", len(list), (time.Duration(len(list)) * (o.live.sick + aroundLive)).Round(time.Minute))
	p := &progress{began: time.Now(), n: len(list), tty: isTerminal(os.Stderr)}
	defer p.clear()
	for i, w := range list {
		p.tell(i, w.key())
		began := time.Now()
		a := r.do(ctx, w, o.live.sick, 0)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d sick programs", i, len(list))
		}
		p.clear()
		o.tellSick(&w, &a, time.Since(began))
		l.put(a)
		if err := l.save(o.resultsFile()); err != nil {
			return err
		}
	}
	return nil
}

func (o *options) tellSick(w *watching, a *LiveAnswer, took time.Duration) {
	fmt.Fprintf(o.say, "%s, in %.0f s: ", w.key(), took.Seconds())
	m := judgeLive(a, w.ill.Rule, w.ill.Where)
	switch {
	case a.LeftOut != "":
		fmt.Fprintln(o.say, "left out:", a.LeftOut)
	case m.first <= liveLimit.Seconds():
		fmt.Fprintf(o.say, "%s first after %.0f s\n", w.ill.Rule, m.first)
	default:
		fmt.Fprintf(o.say, "MISSED, wanted %s: %s; at the end: %s\n", w.ill.Rule, whyMissed(a, m, w.ill.Rule, liveLimit.Seconds()), printable(a.viewAt(never).words()))
	}
}

// watchWell watches well programs, those that use little at the same time.
func (o *options) watchWell(ctx context.Context, r *liveRunner, list []watching, l *Live) error {
	if o.live.well == 0 || len(list) == 0 {
		return nil
	}
	use := map[string]float64{}
	for i := range list {
		w := &list[i]
		if len(w.load) > 0 || len(w.beside) > 0 {
			continue
		}
		program, err := r.bed.Build(ctx, w.c.Dir)
		if err != nil {
			return err
		}
		_, cores, err := r.probe(ctx, program, *w)
		if err != nil {
			cores = littleCores // it says what is wrong when it is watched
		}
		use[w.key()] = cores
	}
	cores := func(w watching) float64 { return use[w.key()] }
	groups := groupWatches(list, cores)
	if o.live.atOnce > 0 {
		groups = dealt(list, cores, o.live.atOnce)
	}
	if o.live.trace == "all" {
		for _, g := range slices.Clone(groups) {
			groups = append(groups, withTrace(g))
		}
	}
	fmt.Fprintf(os.Stderr, "score: %d well programs in %d turns, about %v\n", len(list), len(groups), (time.Duration(len(groups)) * (o.live.well + aroundLive)).Round(time.Minute))
	p := &progress{began: time.Now(), n: len(groups), tty: isTerminal(os.Stderr)}
	defer p.clear()
	for i, g := range groups {
		p.tell(i, g[0].key())
		answers := watchGroup(ctx, r, g, o.live.well)
		if ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d turns of well programs", i, len(groups))
		}
		p.clear()
		for n := range answers {
			o.tellWell(&g[n], &answers[n])
			l.put(answers[n])
		}
		if err := l.save(o.resultsFile()); err != nil {
			return err
		}
	}
	return nil
}

func watchGroup(ctx context.Context, r *liveRunner, g []watching, d time.Duration) []LiveAnswer {
	answers := make([]LiveAnswer, len(g))
	var all sync.WaitGroup
	for i, w := range g {
		all.Go(func() { answers[i] = r.do(ctx, w, d, len(g)-1) })
	}
	all.Wait()
	return answers
}

func (o *options) tellWell(w *watching, a *LiveAnswer) {
	fmt.Fprintf(o.say, "%s: ", w.key())
	lines := falseLines(a, w.allowed)
	switch {
	case a.LeftOut != "":
		fmt.Fprintln(o.say, "left out:", a.LeftOut)
	case a.Failed != "":
		fmt.Fprintln(o.say, "failed:", printable(a.Failed))
	case len(lines) == 0:
		fmt.Fprintf(o.say, "no false line in %.0f s (%d pieces)\n", a.Seconds, a.Judged)
	default:
		fmt.Fprintln(o.say, "FALSE:", printable(falseWords(lines)))
	}
}

// livePage writes the page of saved answers and says what is in its head.
func (o *options) livePage(l *Live, cases []*truth.Case) error {
	t := tallyLive(l, cases)
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	p := livePage{l: l, t: t}
	if err := errors.Join(p.write(f), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(o.say, "wrote %s\n", o.out)
	for _, b := range t.bars() {
		mark := "reached"
		if !b.met {
			mark = "MISSED "
		}
		fmt.Fprintf(o.say, "  %s  %-60s %s, wanted %s\n", mark, b.what, b.have, b.want)
	}
	return nil
}

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// Results are what was seen: everything that SCORE.md is made from, beside what
// is true of the cases. They are saved as score.json.
type Results struct {
	Schema  int          `json:"schema"`
	Taken   Provenance   `json:"taken"`
	Anew    []Provenance `json:"anew,omitempty"` // what was made again of it since
	Answers []Answer     `json:"answers"`
	Trials  []Trial      `json:"trials"`
}

// renew takes what was made again in the place of the same cases' old answers and the same
// experiments, as far as there are new ones.
func (r *Results) renew(by *Results) {
	answered, tried := map[string]bool{}, map[string]bool{}
	for i := range by.Answers {
		answered[by.Answers[i].Case] = true
	}
	for i := range by.Trials {
		tried[by.Trials[i].what()] = true
	}
	r.Answers = append(slices.DeleteFunc(r.Answers, func(a Answer) bool { return answered[a.Case] }), by.Answers...)
	r.Trials = append(slices.DeleteFunc(r.Trials, func(t Trial) bool { return tried[t.what()] }), by.Trials...)
	r.Anew = append(r.Anew, by.Taken)
	r.sort()
}

// schema is the version of the form of saved results.
const schema = 1

// A Provenance says when, where and how results were had.
type Provenance struct {
	Date     string  `json:"date"` // 2026-11-21
	Commit   string  `json:"commit"`
	Go       string  `json:"go"`
	CPU      string  `json:"cpu"`
	Cores    int     `json:"cores"`
	Kernel   string  `json:"kernel"`
	Rounds   int     `json:"rounds"`
	Seed     uint64  `json:"seed"`
	Cases    string  `json:"cases,omitempty"` // when not all were asked for
	Only     string  `json:"only,omitempty"`  // "answers" or "experiments" when not both were made
	TookMins float64 `json:"took_minutes"`
}

// A Kind is what a run is to show.
type Kind string

// The kinds of runs.
const (
	Sick    Kind = "sick"
	Healed  Kind = "healed"
	Healthy Kind = "healthy"
	Cure    Kind = "cure"    // of a trial: from sick to healed
	Useless Kind = "useless" // of a trial: a change that is no cure
)

// An Answer is what gowhy said of one run.
type Answer struct {
	Case  string  `json:"case"`
	Name  string  `json:"name"` // of the illness or the healthy run
	Kind  Kind    `json:"kind"`
	Dose  float64 `json:"dose,omitempty"` // of a sick run, up to 1
	Round int     `json:"round"`          // from 1

	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings"`
	// Busy is set when gowhy itself said that others had the machine, Repeats
	// is how many runs before this one were given up because of it.
	Busy    bool `json:"busy,omitempty"`
	Repeats int  `json:"repeats,omitempty"`
	// Failed says why there is no diagnosis; empty when there is one.
	Failed string `json:"failed,omitempty"`

	Bytes           int64   `json:"bytes"` // of the recording
	RecordSeconds   float64 `json:"record_seconds"`
	DiagnoseSeconds float64 `json:"diagnose_seconds"`

	// What the two baselines say of the same recording.
	Thresholds Thresholds `json:"thresholds"`
	Top        Top        `json:"top"`
}

// A Finding is one of a diagnosis, as far as it is judged.
type Finding struct {
	Rule     string    `json:"rule"`
	Remark   bool      `json:"remark,omitempty"`
	Where    []string  `json:"where,omitempty"` // functions of its places, in their order
	Promised []Promise `json:"promised,omitempty"`
	Symptoms []Finding `json:"symptoms,omitempty"`
}

// A Promise is the most that a cure can do to a metric: the least ratio of
// after to before, and of throughput the greatest.
type Promise struct {
	Metric string  `json:"metric"`
	Best   float64 `json:"best"`
}

// A Trial is what the experiment of an illness's cure, or of a useless change, said.
type Trial struct {
	Case       string   `json:"case"`
	Name       string   `json:"name"`
	Kind       Kind     `json:"kind"` // Cure or Useless
	Conclusion string   `json:"conclusion"`
	Primary    string   `json:"primary"`
	Pairs      int      `json:"pairs"`
	Busy       bool     `json:"busy,omitempty"` // the machine was, in most pairs
	Effects    []Effect `json:"effects"`
	Seconds    float64  `json:"seconds"`
	Failed     string   `json:"failed,omitempty"`
}

// what tells the experiments of all cases apart.
func (t *Trial) what() string { return t.Case + "/" + t.Name + "/" + string(t.Kind) }

// An Effect is what happened to one metric: after ÷ before, with its 95 % interval.
type Effect struct {
	Metric  string  `json:"metric"`
	Verdict string  `json:"verdict"`
	Ratio   float64 `json:"ratio"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// effect returns what happened to a metric; nil when it was not measured.
func (t *Trial) effect(metric string) *Effect {
	for i := range t.Effects {
		if t.Effects[i].Metric == metric && t.Effects[i].Ratio > 0 {
			return &t.Effects[i]
		}
	}
	return nil
}

// maxResults bounds what is read; a long run writes less than a megabyte.
const maxResults = 64 << 20

// load reads saved results.
func load(path string) (*Results, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxResults+1))
	if err != nil {
		return nil, err
	}
	r, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func parse(b []byte) (*Results, error) {
	if len(b) > maxResults {
		return nil, fmt.Errorf("larger than %d MiB", maxResults>>20)
	}
	r := new(Results)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, err
	}
	if r.Schema != schema {
		return nil, fmt.Errorf("schema %d; wanted %d", r.Schema, schema)
	}
	for i := range r.Answers {
		a := &r.Answers[i]
		if a.Kind != Sick && a.Kind != Healed && a.Kind != Healthy || a.Round < 1 || !(a.Dose >= 0 && a.Dose <= 1) {
			return nil, fmt.Errorf("answer %d: kind %q, round %d, dose %v", i, a.Kind, a.Round, a.Dose)
		}
		if deeper(a.Findings, maxDepth) {
			return nil, fmt.Errorf("answer %d: symptoms of symptoms, too many of them", i)
		}
	}
	for i := range r.Trials {
		if k := r.Trials[i].Kind; k != Cure && k != Useless {
			return nil, fmt.Errorf("trial %d: kind %q", i, k)
		}
	}
	return r, nil
}

const maxDepth = 10

func deeper(findings []Finding, most int) bool {
	for i := range findings {
		if most == 0 || deeper(findings[i].Symptoms, most-1) {
			return true
		}
	}
	return false
}

// save writes results as JSON, one answer a line: a run that changed is a line
// that changed.
func (r *Results) save(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return r.write(f)
}

// writeHead begins a file of answers: what of, and when.
func writeHead(w io.Writer, of Provenance, anew []Provenance) error {
	taken, err := json.Marshal(of)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "{\"schema\": %d,\n\"taken\": %s,\n\"anew\": [\n", schema, taken); err != nil {
		return err
	}
	if err := lines(w, anew); err != nil {
		return err
	}
	_, err = io.WriteString(w, "],\n\"answers\": [\n")
	return err
}

func (r *Results) write(w io.Writer) error {
	if err := writeHead(w, r.Taken, r.Anew); err != nil {
		return err
	}
	if err := lines(w, r.Answers); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "],\n\"trials\": [\n"); err != nil {
		return err
	}
	if err := lines(w, r.Trials); err != nil {
		return err
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}

func lines[T any](w io.Writer, list []T) error {
	for i := range list {
		b, err := json.Marshal(&list[i])
		if err != nil {
			return err
		}
		if i < len(list)-1 {
			b = append(b, ',')
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// seconds rounds a duration for a file that people compare.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// sort puts answers in the order of cases, kinds, doses and rounds, so that two
// files of results can be compared.
func (r *Results) sort() {
	slices.SortStableFunc(r.Answers, func(a, b Answer) int {
		return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Dose, b.Dose), cmp.Compare(a.Round, b.Round))
	})
	slices.SortStableFunc(r.Trials, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

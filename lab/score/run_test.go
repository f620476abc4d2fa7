package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// What a run is made again for: a busy machine up to the limit, a failure once.
func TestRepeated(t *testing.T) {
	fine, busy, failed := Answer{}, Answer{Busy: true}, Answer{Failed: "it broke"}
	for name, c := range map[string]struct {
		answers []Answer
		made    int
		last    Answer
	}{
		"fine":                   {[]Answer{fine}, 1, fine},
		"busy once":              {[]Answer{busy, fine}, 2, fine},
		"busy for ever":          {[]Answer{busy, busy, busy, busy}, 3, busy},
		"failed once":            {[]Answer{failed, fine}, 2, fine},
		"failed twice":           {[]Answer{failed, failed, fine}, 2, failed},
		"busy, failed and again": {[]Answer{busy, failed, failed}, 3, failed},
	} {
		made := 0
		got := repeated(t.Context(), 2, func() Answer { made++; return c.answers[made-1] })
		if made != c.made || got.Busy != c.last.Busy || got.Failed != c.last.Failed || got.Repeats != made-1 {
			t.Errorf("%s: %d runs, %+v; want %d, the last as %+v", name, made, got, c.made, c.last)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	made := 0
	if repeated(ctx, 2, func() Answer { made++; return busy }); made != 1 {
		t.Errorf("%d runs after an interrupt", made)
	}
}

// What gowhy promises of its JSON is read: where, remarks, promises, symptoms.
func TestDiagnosisIsRead(t *testing.T) {
	var d diagnosisJSON
	err := json.Unmarshal([]byte(`{"schema": 1, "verdict": "sick", "findings": [{
		"rule": "leakedtimers",
		"where": [{"function": "main.a", "file": "a.go", "line": 1}, {"function": "main.b"}, {"function": "main.c"}, {"function": "main.d"}],
		"experiment": {"primary": "cpu/op", "promised": [{"metric": "cpu/op", "best": 0.7, "method": "Amdahl"}]},
		"symptoms": [{"rule": "gccost", "where": []}]}, {"rule": "hotfunction", "remark": true}]}`), &d)
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{Rule: "leakedtimers", Where: []string{"main.a", "main.b", "main.c"}, Promised: []Promise{{"cpu/op", 0.7}}, Symptoms: []Finding{{Rule: "gccost"}}}
	if got := d.Findings[0].finding(); !reflect.DeepEqual(got, want) {
		t.Errorf("finding() = %+v, want %+v", got, want)
	}
	if got := d.Findings[1].finding(); !got.Remark {
		t.Errorf("finding() = %+v, want a remark", got)
	}
}

func TestProofFlags(t *testing.T) {
	timed := proofFlags(proof{metric: "cpu/op", ops: 44000}, 10, 0)
	counter := proofFlags(proof{metric: "allocs/op"}, 6, maxSeed+4)
	if !slices.Contains(timed, "--no-count") || !strings.Contains(strings.Join(timed, " "), "--ops 44000") || !strings.Contains(strings.Join(timed, " "), "--seed 1 ") {
		t.Errorf("flags of a timed proof: %q, want --no-count, --ops 44000 and --seed 1", timed)
	}
	if slices.Contains(counter, "--no-count") || slices.Contains(counter, "--ops") {
		t.Errorf("flags of a counted proof: %q, want neither --no-count nor --ops", counter)
	}
	for _, m := range counters {
		if !slices.Contains(truth.Metrics, m) {
			t.Errorf("%s is no metric", m)
		}
	}
}

func TestBrief(t *testing.T) {
	bed, err := testbed.New("")
	if err != nil {
		t.Fatal(err)
	}
	defer bed.Close()
	r := &runner{bed: bed}
	got := r.brief(errors.New("cannot open " + filepath.Join(bed.Dir(), "run", "1") + "\nof " + here() + ": " + strings.Repeat("é", 400)))
	if strings.Contains(got, bed.Dir()) || strings.Contains(got, here()) || strings.Contains(got, "\n") || len(got) > 310 || !strings.HasPrefix(got, "cannot open …/run/1 of …") {
		t.Errorf("brief() = %q, want one line of 310 bytes or less: cannot open …/run/1 of …", got)
	}
}

func TestBriefFailure(t *testing.T) {
	bed, err := testbed.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{bed: bed}
	if got := r.brief(errors.New("gowhy " + strings.Repeat("-x ", 200) + ": exit status 7\nno such luck")); got != "exit status 7 no such luck" {
		t.Errorf("brief() = %q, want exit status 7 no such luck", got)
	}
}

func TestOut(t *testing.T) {
	a := &Answer{Case: "controls/burst", Name: "at night, late", Kind: Sick, Dose: 0.25, Round: 3}
	r := &runner{keep: "/kept"}
	if got := r.recordingPath(a); got != "/kept/controls-burst-at-night-late-sick@0.25-3.gowhy" {
		t.Errorf("out() = %q, want the case, its name and dose in /kept", got)
	}
	if got := new(runner).recordingPath(a); got != "" {
		t.Errorf("out() of one who keeps nothing = %q, want \"\"", got)
	}
}

package subject

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// The floor is what it says: of experiments with identical arms of the same
// noise, one in twenty shows more. The noise is normal, of 5%.
func TestSignFloor(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() []float64 {
		d := make([]float64, noisePairs)
		for i := range d {
			d[i] = 0.05 * random.NormFloat64()
		}
		return d
	}
	var floors []float64
	for range 40 {
		floors = append(floors, signFloor(draw()))
	}
	var shown []float64
	for range 4000 {
		shown = append(shown, math.Abs(math.Expm1(statistics.HodgesLehmann(draw()))))
	}
	slices.Sort(shown)
	truth := shown[len(shown)*95/100]
	if got := statistics.Median(floors); got < 0.85*truth || got > 1.15*truth {
		t.Errorf("a floor is typically %.4f, and 95%% of experiments are within %.4f", got, truth)
	}
	slices.Sort(floors)
	if low, high := floors[4], floors[35]; low < truth/2 || high > truth*2 {
		t.Errorf("floors scatter from %.4f to %.4f around %.4f", low, high, truth)
	}
	// A drift is no noise of the pairs, and an accident of their sign is none.
	if got := signFloor([]float64{0, 0, 0, 0}); got != 0 {
		t.Errorf("without noise: %v", got)
	}
	if a, b := signFloor([]float64{0.1, 0.1, 0.1}), signFloor([]float64{0.1, -0.1, 0.1}); a != b || a <= 0 {
		t.Errorf("%v and %v", a, b)
	}
	if got := signFloor(nil); got != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

// The order is ABBA: what only drifts is no noise.
func TestMeasureNoise(t *testing.T) {
	n := 0
	run := func(elapsed func(n int) float64) experiment.Runner {
		n = 0
		return func(context.Context) (experiment.Sample, error) {
			n++
			return experiment.Sample{
				Values:     map[diagnosis.Metric]float64{diagnosis.Elapsed: elapsed(n), diagnosis.CPUPerOp: 0.5},
				Conditions: experiment.Conditions{Others: 0.25},
			}, nil
		}
	}
	got, err := measureNoise(t.Context(), run(func(n int) float64 {
		if n <= 2 {
			return 1000 // the first pair is dropped
		}
		return 1
	}))
	if err != nil || got.Elapsed != 0 || got.CPU != 0 || got.Others != 0.25 || n != 2*(noisePairs+1) {
		t.Errorf("measureNoise() = elapsed %v, CPU %v, others %v, %v after %d runs, want 0, 0, 0.25 after %d",
			got.Elapsed, got.CPU, got.Others, err, n, 2*(noisePairs+1))
	}
	random := rand.New(rand.NewPCG(3, 4))
	got, err = measureNoise(t.Context(), run(func(int) float64 { return math.Exp(0.03 * random.NormFloat64()) }))
	if err != nil || got.Elapsed < 0.01 || got.Elapsed > 0.08 || got.CPU != 0 {
		t.Errorf("measureNoise() = elapsed %v, CPU %v, %v, want 0.01 to 0.08, 0", got.Elapsed, got.CPU, err)
	}
	broken := errors.New("broken")
	if _, err := measureNoise(t.Context(), func(context.Context) (experiment.Sample, error) { return experiment.Sample{}, broken }); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestNoiseCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gowhy", "noise.json")
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	h := host{Machine: "m", Boot: "b", Kernel: "k", CPUs: 2, Go: "go1"}
	want := Noise{Elapsed: 0.03, CPU: 0.01, Others: -1, Measured: now}
	if err := writeNoise(file, h, want); err != nil {
		t.Fatal(err)
	}
	if got, ok := readNoise(file, h, now.Add(time.Hour)); !ok || got != want {
		t.Errorf("readNoise() = %+v, %v, want %+v, true", got, ok, want)
	}
	for name, c := range map[string]struct {
		host host
		at   time.Time
	}{
		"old":     {h, now.Add(25 * time.Hour)},
		"future":  {h, now.Add(-time.Second)},
		"boot":    {host{Machine: "m", Boot: "other", Kernel: "k", CPUs: 2, Go: "go1"}, now},
		"machine": {host{Machine: "m", Boot: "b", Kernel: "k", CPUs: 4, Go: "go1"}, now},
	} {
		if _, ok := readNoise(file, c.host, c.at); ok {
			t.Errorf("%s: it still counts", name)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "cut": string(text[:len(text)/2]), "kind": strings.Replace(string(text), noiseKind, "other", 1),
		"negative": strings.Replace(string(text), "0.03", "-1", 1), "absurd": strings.Replace(string(text), "0.03", "1e9", 1),
		"type": strings.Replace(string(text), "0.03", `"x"`, 1),
	} {
		if _, ok := parseNoise([]byte(text), h, now); ok {
			t.Errorf("%s: taken", name)
		}
	}
	if err := writeNoise("", h, want); err == nil {
		t.Error("written nowhere")
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if len(left) != 1 {
		t.Errorf("files %v", left)
	}
}

func FuzzNoise(f *testing.F) {
	f.Add([]byte(`{"kind":"gowhy noise","host":{"machine":"","boot":"","kernel":"","cpus":0,"go":""},"elapsed":0.1,"cpu":0.2,"measured":"2030-01-02T03:04:05Z","others":0}`))
	f.Add([]byte(`{"kind":"gowhy noise","elapsed":1e308}`))
	f.Add([]byte("{"))
	now := time.Date(2030, 1, 2, 4, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte) {
		if n, ok := parseNoise(text, host{}, now); ok && !(n.Elapsed >= 0 && n.Elapsed < 10 && n.CPU >= 0 && n.CPU < 10) {
			t.Errorf("parseNoise(%q) = elapsed %v, CPU %v, want 0 to 10", text, n.Elapsed, n.CPU)
		}
	})
}

// The whole of it with the real program, once; a second time it is known.
func TestFloor(t *testing.T) {
	program(t) // elsewhere nothing tells what is needed
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var log []string
	begin := time.Now()
	floor, measured, err := Floor(t.Context(), func(s string) { log = append(log, s) })
	if err != nil {
		t.Fatal(err)
	}
	if !(floor > 0 && floor < 10) || measured.Before(begin.Add(-time.Second)) || len(log) == 0 {
		t.Errorf("floor %v at %v, %q", floor, measured, log)
	}
	if err := writeNoise(noiseFile(), thisHost(), Noise{Elapsed: 0.5, CPU: 0.25, Measured: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if floor, _, err := Floor(t.Context(), nil); err != nil || floor != 0.5 {
		t.Errorf("floor %v, %v: the cache does not count", floor, err)
	}
}

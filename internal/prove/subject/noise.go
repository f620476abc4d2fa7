package subject

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// How the noise of a machine becomes one number.
//
// The calibration program is run against itself in interleaved pairs. That both
// arms are the same program is known, so each pair might as well have been
// drawn the other way round: all 1024 ways to choose the signs of ten log ratios
// are results that this machine could have given. For each the estimate of an
// experiment is computed, the Hodges-Lehmann ratio, and the floor is the 95th
// percentile of how far these are from 1: identical programs look more
// different in one experiment of twenty.
//
// Why not the half-width of the interval around the measured ratio: it is
// centred at an accident, and of ten pairs its own width scatters by a quarter.
// Why not halves against each other: five pairs scatter 1.4 times as much as
// ten. Signs need no assumption but that the arms are alike, and no random
// numbers.
//
// It is a floor for programs like the calibration's. One that waits for disks,
// or whose time is in two modes, is noisier; that shows in its own rounds.

// noisePairs is how many pairs a floor is of, and of an experiment's first look.
const noisePairs = 10

// Noise is how much of a difference identical programs show on this machine, as
// a ratio-1, in elapsed time and in CPU time.
type Noise struct {
	Elapsed  float64   `json:"elapsed"`
	CPU      float64   `json:"cpu"`
	Measured time.Time `json:"measured"`
	// Others is the median share of the machine that others used meanwhile,
	// negative when not known.
	Others float64 `json:"others"`
}

// Floor returns the noise floor of this machine as a ratio-1: the greater one
// of elapsed and CPU time; see [HostNoise].
func Floor(ctx context.Context, log func(string)) (floor float64, measured time.Time, err error) {
	n, err := HostNoise(ctx, log)
	return max(n.Elapsed, n.CPU), n.Measured, err
}

// noiseAge is how long a floor holds: neighbours on a shared machine come and
// go.
const noiseAge = 24 * time.Hour

// busyOthers is the share of the machine from which on a floor is that of an
// hour and not of a machine; it is used, and not kept.
const busyOthers = 0.10

// HostNoise returns the noise of this machine, from the user's cache when it was measured
// since the last boot and within a day, else by running this binary again and again for about
// two seconds; see [Calibrate]. log, which may be nil, gets a line of it. The error is that
// of a run, or the context's.
func HostNoise(ctx context.Context, log func(string)) (Noise, error) {
	if log == nil {
		log = func(string) {}
	}
	self, err := os.Executable()
	if err != nil {
		return Noise{}, err
	}
	host, file := thisHost(), noiseFile()
	if n, ok := readNoise(file, host, time.Now()); ok {
		return n, nil
	}
	log("measuring how noisy this machine is, once a day")
	s, err := New(Spec{Program: Program{Command: []string{self}, Env: []string{CalibrateVariable + "=1"}}, Time: calibrateLimit})
	if err != nil {
		return Noise{}, err
	}
	n, err := measureNoise(ctx, s.Run)
	if err != nil {
		return Noise{}, err
	}
	n.Measured = time.Now().Round(0)
	if n.Others > busyOthers {
		log("others used " + figures.Percent(n.Others) + " of the machine meanwhile: its noise will be measured again next time")
		return n, nil
	}
	// A cache that cannot be written costs two seconds the next time.
	_ = writeNoise(file, host, n)
	return n, nil
}

// measureNoise runs the pairs, the first of them in vain: caches are cold.
func measureNoise(ctx context.Context, run experiment.Runner) (Noise, error) {
	ratios := map[diagnosis.Metric][]float64{}
	var others []float64
	for pair := range noisePairs + 1 {
		var samples [2]experiment.Sample
		for i := range samples {
			var err error
			if samples[i], err = run(ctx); err != nil {
				return Noise{}, err
			}
		}
		if pair == 0 {
			continue
		}
		if pair%2 == 1 { // ABBA
			samples[0], samples[1] = samples[1], samples[0]
		}
		for _, m := range []diagnosis.Metric{diagnosis.Elapsed, diagnosis.CPUPerOp} {
			a, b := samples[0].Values[m], samples[1].Values[m]
			if a > 0 && b > 0 {
				ratios[m] = append(ratios[m], math.Log(b/a))
			}
		}
		for _, s := range samples {
			others = append(others, s.Conditions.Others)
		}
	}
	return Noise{Elapsed: signFloor(ratios[diagnosis.Elapsed]), CPU: signFloor(ratios[diagnosis.CPUPerOp]), Others: statistics.Median(others)}, nil
}

// signFloor returns the 95th percentile of |ratio-1| over all choices of the signs of
// the log ratios d, which must be few.
func signFloor(d []float64) float64 {
	if len(d) == 0 || len(d) > 16 {
		return 0
	}
	// A choice and its opposite are equally far from 1 in logarithms.
	var far []float64
	signed := make([]float64, len(d))
	for choice := range 1 << (len(d) - 1) {
		for i, x := range d {
			if choice>>i&1 == 1 {
				x = -x
			}
			signed[i] = x
		}
		far = append(far, math.Abs(statistics.HodgesLehmann(signed)))
	}
	slices.Sort(far)
	return math.Expm1(far[int(math.Ceil(0.95*float64(len(far))))-1])
}

// A host is what a floor is of.
type host struct {
	Machine string `json:"machine"`
	Boot    string `json:"boot"`
	Kernel  string `json:"kernel"`
	CPUs    int    `json:"cpus"`
	Go      string `json:"go"` // whose runtime did the work
}

func thisHost() host {
	read := func(path string) string {
		text, err := readLimited(path, 1<<10)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	return host{
		Machine: read("/etc/machine-id"), Boot: read("/proc/sys/kernel/random/boot_id"), Kernel: read("/proc/sys/kernel/osrelease"),
		CPUs: runtime.NumCPU(), Go: runtime.Version(),
	}
}

// noiseKind tells the cache's file from others.
const noiseKind = "gowhy noise"

type noiseCache struct {
	Kind string `json:"kind"`
	Host host   `json:"host"`
	Noise
}

// noiseFile returns where the noise is kept; empty without a place for it.
func noiseFile() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "gowhy", "noise.json")
}

// readNoise reads the cache; ok is false unless it is whole, of this host and
// not too old.
func readNoise(file string, h host, now time.Time) (Noise, bool) {
	text, err := readLimited(file, 64<<10)
	if err != nil {
		return Noise{}, false
	}
	return parseNoise(text, h, now)
}

func parseNoise(text []byte, h host, now time.Time) (Noise, bool) {
	var c noiseCache
	if json.NewDecoder(bytes.NewReader(text)).Decode(&c) != nil || c.Kind != noiseKind || c.Host != h {
		return Noise{}, false
	}
	age := now.Sub(c.Measured)
	sane := func(x float64) bool { return x >= 0 && x < 10 }
	return c.Noise, age >= 0 && age < noiseAge && sane(c.Elapsed) && sane(c.CPU)
}

// writeNoise replaces the cache's file at once, for another gowhy may read it.
func writeNoise(file string, h host, n Noise) error {
	if file == "" {
		return os.ErrNotExist
	}
	text, err := json.MarshalIndent(noiseCache{Kind: noiseKind, Host: h, Noise: n}, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "noise-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(append(text, '\n'))
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	return err
}

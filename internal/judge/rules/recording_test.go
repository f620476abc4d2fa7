package rules

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What the rules about the recording itself say on either side of their thresholds.
func TestRecordingThresholds(t *testing.T) {
	const half, still = "the profile saw half, and nothing", "a closed loop stood still"
	checkVariants(t, []variant{
		{unsampled, half, "user=4s system=5s → user=600ms system=500ms\ncount=200 time=2s → count=20 time=200ms\ncount=250 time=2.5s → count=25 time=250ms", false, "the CPU profile covers 40.9%"},
		{unsampled, half, "user=4s system=5s → user=500ms system=400ms\ncount=200 time=2s → count=20 time=200ms\ncount=250 time=2.5s → count=25 time=250ms", false, "!the CPU profile saw"},
		{unsampled, half, "process n=11 user=4s system=5s voluntary=400000 →", false, "!CPU profile"},
		{generatorbound, still, "ops=200 → ops=1900", false, "in 1 of its 8 intervals"},
		{generatorbound, still, "ops=200 → ops=2100", false, "!closed loop"},
		{generatorbound, still, "interval at=7s width=1s ops=10000 →", false, "in 1 of its 7 intervals"},
		{generatorbound, still, "interval at=7s width=1s ops=10000 →\ninterval at=6s width=1s ops=10000 →", false, "!closed loop"},
	})
}

// A profile without times has no account to compare.
func TestUnsampledUntimed(t *testing.T) {
	m := &model.Model{CPU: &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}}}}
	if d := diagnosis.Run(m, []*diagnosis.Rule{unsampled}, diagnosis.Options{}); len(d.Fine)+len(d.Unchecked)+len(d.Warnings) != 0 {
		t.Errorf("%q, %q, %q", d.Fine, d.Unchecked, d.Warnings)
	}
}

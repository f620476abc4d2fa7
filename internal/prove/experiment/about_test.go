package experiment

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

func TestArmString(t *testing.T) {
	for _, tt := range []struct {
		arm  Arm
		want string
	}{
		{Arm{}, ""},
		{Arm{Command: []string{"./app", "-n", "a b"}}, "./app -n 'a b'"},
		{Arm{Command: []string{"./app"}, Env: []string{"GOGC=50", "TITLE=two words"}}, "GOGC=50 TITLE='two words' ./app"},
		{Arm{Name: "GOGC=50", Command: []string{"./app"}, Env: []string{"GOGC=50"}}, "GOGC=50 ./app"},
		{Arm{Name: "HEAD", Command: []string{"./app"}}, "./app  (HEAD)"},
		{Arm{Name: "HEAD"}, "(HEAD)"},
	} {
		if got := tt.arm.String(); got != tt.want {
			t.Errorf("%+v: String() = %q, want %q", tt.arm, got, tt.want)
		}
	}
}

// Metrics stand in the table's order, those of a benchmark behind its name.
func TestMetricOrder(t *testing.T) {
	want := []diagnosis.Metric{
		diagnosis.AllocsOp, diagnosis.Elapsed, diagnosis.P99, "bears", "cats/s",
		"BenchmarkA allocs/op", "BenchmarkA ns/op", "BenchmarkA words", "BenchmarkA deep ns/op", "BenchmarkB allocs/op",
	}
	for range 20 {
		got := slices.Clone(want)
		for i := range got { // a fixed shuffle, another one each time
			j := (7*i + len(got)) % len(got)
			got[i], got[j] = got[j], got[i]
		}
		slices.SortFunc(got, compareMetrics)
		if !slices.Equal(got, want) {
			t.Fatalf("sorted: %q, want %q", got, want)
		}
	}
	for m, want := range map[diagnosis.Metric][2]string{
		"ns/op": {"", "ns/op"}, "BenchmarkA ns/op": {"BenchmarkA", "ns/op"}, "BenchmarkA deep ns/op": {"BenchmarkA deep", "ns/op"}, " x": {"", "x"},
	} {
		if benchmark, base := splitMetric(m); [2]string{benchmark, base} != want {
			t.Errorf("splitMetric(%q) = %q, %q, want %q", m, benchmark, base, want)
		}
	}
}

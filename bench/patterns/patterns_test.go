package main

import (
	"os"
	"runtime"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.Remove(bigFile)
	os.Exit(code)
}

// TestPairs: both of a pair do the same work, and each pattern has one.
func TestPairs(t *testing.T) {
	seen := map[model.Pattern]bool{}
	for i := range pairs {
		p := &pairs[i]
		if a, b := p.before(), p.after(); a != b || a == nil {
			t.Errorf("%s: %v before, %v after", p.pattern, a, b)
		}
		if seen[p.pattern] || p.input == "" {
			t.Errorf("%s has two pairs, or no input", p.pattern)
		}
		seen[p.pattern] = true
	}
}

// BenchmarkPatterns is for single ones: go test -bench Patterns/concat-loop ./bench/patterns
func BenchmarkPatterns(b *testing.B) {
	for i := range pairs {
		p := &pairs[i]
		for name, f := range map[string]func() any{"before": p.before, "after": p.after} {
			b.Run(string(p.pattern)+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					runtime.KeepAlive(f())
				}
			})
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/lab/internal/specimen"
)

func TestLeaveOut(t *testing.T) {
	lock, hot, churn := specimen.Finding{Rule: "hotmutex"}, specimen.Finding{Rule: "hotfunction"}, specimen.Finding{Rule: "allocchurn"}
	explains := func(f specimen.Finding, symptoms ...specimen.Finding) specimen.Finding {
		f.Symptoms = symptoms
		return f
	}
	for _, tt := range []struct {
		name     string
		findings []specimen.Finding
		rules    string
		want     []specimen.Finding
	}{
		{name: "none of them", findings: []specimen.Finding{lock, hot}, rules: "gccost", want: []specimen.Finding{lock, hot}},
		{name: "a cause, and its symptoms take its place", findings: []specimen.Finding{explains(lock, hot, churn)}, rules: "hotmutex", want: []specimen.Finding{hot, churn}},
		{name: "a symptom", findings: []specimen.Finding{explains(lock, hot, churn)}, rules: "hotfunction", want: []specimen.Finding{explains(lock, churn)}},
		{name: "both", findings: []specimen.Finding{explains(lock, hot), churn}, rules: "hotmutex hotfunction", want: []specimen.Finding{churn}},
		{name: "nothing", rules: "hotmutex"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := leaveOut(tt.findings, strings.Fields(tt.rules)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("leaveOut(%v, %s) = %v, want %v", tt.findings, tt.rules, got, tt.want)
			}
		})
	}
}

// Each rule is of one mechanism, and there is one of that name.
func TestMechanisms(t *testing.T) {
	seen := map[string]string{}
	for _, m := range mechanisms {
		for _, rule := range strings.Fields(m.rules) {
			if seen[rule] != "" {
				t.Errorf("%s is of %q and of %q", rule, seen[rule], m.name)
			}
			seen[rule] = m.name
			if _, err := os.Stat(filepath.Join("..", "..", "internal", "judge", "rules", rule+".md")); err != nil {
				t.Errorf("%s: no rule has this name", rule)
			}
		}
	}
}

// What falls without a mechanism is what it brings.
func TestMechanismTable(t *testing.T) {
	f, all := fieldOf(t)
	var p page
	p.mechanismTable(f, all)
	for _, want := range []string{
		"| a share of the CPU, alone | hotfunction, allocchurn, runtimetax | 0 | 0 | 1 | 1 |",
		"| what grows without end | heapgrowth, goroutinegrowth, leakedgoroutines, leakedtimers, descriptorgrowth, threadgrowth, nativememory, unclosed | 1 | 1 | 1 | 0 |",
		"hotmutex, readlocks, lockedrand, lockedio, loggerlock, herdwakeup, funnelchannel, singlesocket | 0 | 0 | 0 | 1 |",
	} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("the table does not say %q:\n%s", want, p.String())
		}
	}
}

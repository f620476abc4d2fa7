package timeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

func TestFilterOnGoroutines(t *testing.T) {
	worker := goFacts{id: 17, group: "main.(*Pool).worker[...]", life: 20_000_000}
	for _, c := range []struct {
		text string
		want bool
	}{
		{"", true},
		{"worker", true},
		{"WORKER", true},
		{"func:pool id:17", true},
		{"worker -id:17", false},
		{"id:10-20", true},
		{"id:18-20", false},
		{"id>16", true},
		{"id<17", false},
		{"id>=17 id<=17", true},
		{"dur>10ms", true},
		{"dur>20ms", false},
		{"dur:20ms", true},
		{"dur<1s -main.other", true},
		{"func:other,worker", true},
		{`"(*Pool).w"`, true},
		{"worker[...]", true},
		{"-worker", false},
		{"state:running", true}, // is about spans
	} {
		f, err := ParseFilter(c.text)
		if err != nil {
			t.Errorf("ParseFilter(%q): error %v, want nil", c.text, err)
		} else if got := f.goroutine(worker); got != c.want {
			t.Errorf("%q matches: %v, want %v", c.text, got, c.want)
		}
	}
}

func TestFilterOnSpans(t *testing.T) {
	s := spanFacts{goFacts: goFacts{id: 3, group: "main.main"}, state: Sync, reason: "chan receive", label: "GC (idle)", dur: 5_000_000,
		stack: func(part string) bool { return strings.Contains("main.readfile", part) }}
	for text, want := range map[string]bool{
		"state:waiting":                   true,
		"state:sync,net":                  true,
		"state:running":                   false,
		"-state:running":                  true,
		`reason:"chan receive"`:           true,
		`reason:"chan \"receive"`:         false,
		"stack:ReadFile":                  true,
		"stack:other,readfile dur>1ms":    true,
		"stack:other":                     false,
		"label:idle id:3":                 true,
		"-label:idle":                     false,
		"dur>5ms":                         false,
		"main state:waiting dur>=5ms":     true,
		"-func:main":                      false,
		"state:blocked reason:CHAN -id:4": true,
	} {
		f, err := ParseFilter(text)
		if err != nil {
			t.Errorf("ParseFilter(%q): error %v, want nil", text, err)
		} else if got := f.span(&s); got != want {
			t.Errorf("%q matches: %v, want %v", text, got, want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"state:sleepy":               `at character 7: there is no state "sleepy"`,
		"func:":                      "at character 6: a value is missing",
		"worker dur>fast":            `at character 12: "fast" is no duration`,
		`x reason:"chan`:             "at character 10: the quotation does not end",
		"size:3":                     `at character 1: "size" is nothing to ask for`,
		"id:x":                       `at character 4: "x" is no number of a goroutine`,
		"id:3-x":                     `at character 4: "3-x" is no range of goroutines`,
		"state>running":              "at character 1: state cannot be compared with >",
		"é -":                        "at character 4: a value is missing",
		strings.Repeat("a", 1<<12+1): "the filter is 4097 bytes long, at most 4096 are read",
	} {
		_, err := ParseFilter(text)
		var e *problem.Error
		if !errors.As(err, &e) {
			t.Errorf("ParseFilter(%.20q): error %v, want a problem", text, err)
		} else if e.What != want || e.Hint == "" {
			t.Errorf("%.20q: %q (hint %q), want %q", text, e.What, e.Hint, want)
		}
	}
}

// FuzzParseFilter: any text is a filter or an error with a hint, and a filter
// answers.
func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{`func:worker state:waiting reason:"chan receive" stack:ReadFile label:x dur>10ms id:17`,
		"-id:10-20 a,b,[c,d]", `"\"`, "id:-", "dur:-1s", "state:,", "\xff:\xff", "id<0", "id>9223372036854775807", "id<=-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		filter, err := ParseFilter(s)
		var e *problem.Error
		if errors.As(err, &e) {
			if e.Kind != problem.Misuse || e.Hint == "" {
				t.Errorf("ParseFilter(%q): problem %+v, want misuse with a hint", s, e)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		facts := goFacts{1, "main.main", 1}
		filter.goroutine(facts)
		span := spanFacts{goFacts: facts, stack: func(string) bool { return false }}
		// The words of a filter are joined by "and".
		both, err := ParseFilter(s + " " + s)
		if err == nil && both.span(&span) != filter.span(&span) {
			t.Errorf("%q says two things", s)
		}
	})
}

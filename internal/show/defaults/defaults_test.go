package defaults

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	got, err := Read("gowhy.yaml", strings.NewReader("# ours\nwidth: 100\nrecord:\n  duration: 10s\n  without: [kernel, offcpu]\n  redact: yes\n"))
	want := []Setting{{"", "width", "100", "gowhy.yaml:2"}, {"record", "duration", "10s", "gowhy.yaml:4"},
		{"record", "without", "kernel,offcpu", "gowhy.yaml:5"}, {"record", "redact", "yes", "gowhy.yaml:6"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Read() = %v, %v; want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"":                          "",
		"# nothing\n":               "",
		"- a\n":                     "gowhy.yaml:1: names with values are wanted here",
		"a: 1\nb: {\n":              "gowhy.yaml:2: did not find",
		"record:\n  duration:\n":    `gowhy.yaml:2: "duration" wants a value`,
		"record:\n  a: {b: 1}\n":    `gowhy.yaml:2: "a" wants a value`,
		"width: 1\nwidth: 2\n":      `gowhy.yaml:2: "width" is there twice`,
		"[a]: 1\n":                  "gowhy.yaml:1: a name is wanted here",
		"a: *nobody\n":              "gowhy.yaml: unknown anchor",
		strings.Repeat("#", 2<<20):  "gowhy.yaml: more than 1 MiB are no settings",
		"record:\n  without: [[1]]": `gowhy.yaml:2: "without" wants a value`,
	} {
		_, err := Read("gowhy.yaml", strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.30q: %v, want %q", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("width: 100\nrecord:\n  without: [kernel]\n")
	f.Add("a: &x [1]\nb: *x\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := Read("f", strings.NewReader(text))
		for _, s := range list {
			if err == nil && !strings.HasPrefix(s.Where, "f:") {
				t.Errorf("Read(%q) has a setting at %q, want a line of f", text, s.Where)
			}
		}
	})
}

func TestFind(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(filepath.Join(deep, Name), 0o700); err != nil { // a directory of that name is none
		t.Fatal(err)
	}
	want := filepath.Join(top, "a", Name)
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Find(deep); got != want {
		t.Errorf("Find() = %q, want %q", got, want)
	}
}

func TestEnvironment(t *testing.T) {
	got := Environment([]string{"GOWHY_RECORD_TRACE_LIMIT=1MB", "GOWHY_WIDTH=90", "GOWHY_TESTS=all", "GOWHY_RECORD_=1", "HOME=/"}, "record", []string{"width"})
	want := []Setting{{"record", "trace-limit", "1MB", "GOWHY_RECORD_TRACE_LIMIT"}, {"", "width", "90", "GOWHY_WIDTH"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Variable("load dns", "time-limit"); got != "GOWHY_LOAD_DNS_TIME_LIMIT" {
		t.Errorf("%s", got)
	}
}

package truth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with a file of truth is said.
func TestReadHolders(t *testing.T) {
	for text, want := range map[string]string{
		"{name: a, kind: global, holder: main.there}":                         "",
		"{name: a, kind: timers, holder: main.works}":                         "",
		"{name: a, kind: goroutines, holder: net/http.Serve}":                 "",
		"{name: a, kind: native}":                                             "",
		"{name: a, kind: none}":                                               "",
		"{name: a, kind: global}":                                             "no holder has a name",
		"{name: a, kind: global, holder: main.gone}":                          "is not in the source",
		"{name: a, kind: fragmentation, holder: main.there}":                  "has no name",
		"{name: a, kind: magic}":                                              "is no kind",
		"{name: a, kind: none}\n  - {name: a, kind: none}":                    "twice",
		"{name: a, kind: none, because: x}":                                   "not found",
		"{name: a, kind: finalizers, holder: main.there, holder: main.there}": "already defined",
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{
			HoldersFile: "about: x\nprograms:\n  - " + text + "\n",
			"main.go":   "package main\n\nvar there int\n\nfunc works() {}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		h, err := ReadHolders(dir)
		if want == "" && (err != nil || h.Program("a") == nil || h.Program("b") != nil) {
			t.Errorf("ReadHolders() of %s = %+v, %v, want a program a and no b", text, h, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

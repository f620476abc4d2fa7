package evidence

import (
	"os"
	"path/filepath"
	"testing"
)

// A channel is a semaphore where each function that receives from it has sent to it before, and drops what comes.
func TestSlots(t *testing.T) {
	for name, c := range map[string]struct {
		source string
		want   bool
	}{
		"taken and given back":     {"func read() {\n\tlimit <- one{}\n\twork()\n\t<-limit\n}", true},
		"given back at the end":    {"func read() {\n\tlimit <- one{}\n\tdefer func() { <-limit }()\n\twork()\n}", true},
		"of a field":               {"func (p *pool) read() {\n\tp.limit <- one{}\n\twork()\n\t<-p.limit\n}", true},
		"a queue":                  {"func put() { limit <- one{} }\n\nfunc serve() {\n\tfor range limit {\n\t\twork()\n\t}\n}", false},
		"what comes is used":       {"func swap() one {\n\tlimit <- one{}\n\treturn <-limit\n}", false},
		"received before":          {"func read() {\n\t<-limit\n\twork()\n\tlimit <- one{}\n}", false},
		"given back by others":     {"func read() { limit <- one{} }\n\nfunc done() { <-limit }", false},
		"nobody receives":          {"func read() { limit <- one{} }", false},
		"one gives back, one uses": {"func read() {\n\tlimit <- one{}\n\t<-limit\n}\n\nfunc next() one { return <-limit }", false},
	} {
		file := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(file, []byte("package main\n\n"+c.source+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newSourceReader().slots("limit", file); got != c.want {
			t.Errorf("%s: slots(limit) = %v, want %v", name, got, c.want)
		}
	}
}

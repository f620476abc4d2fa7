package gowhy_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestArchitecture(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	if n := strings.Count(text, "\n"); n > 250 {
		t.Errorf("ARCHITECTURE.md has %d lines, more than 250 nobody reads", n)
	}
	of := func(pkg string) (file, text string) {
		file = "ARCHITECTURE.md"
		switch w := wing(pkg); {
		case w != "": // a wing has a page
			file = w + "/README.md"
		case strings.HasPrefix(pkg, "fleet/"): // a module too
			file = "fleet/ARCHITECTURE.md"
		}
		return file, read(t, file)
	}
	pages := map[string]string{"ARCHITECTURE.md": text}
	for _, pkg := range packages(sources(t)) {
		file, page := of(pkg)
		pages[file] = page
		if !strings.Contains(page, "`"+pkg+"`") {
			t.Errorf("%s does not name `%s`", file, pkg)
		}
	}
	// Tests that it says guard an invariant must be there.
	tests := map[string]bool{}
	for _, s := range sourcesAndRoot(t) {
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)`).FindAllStringSubmatch(s, -1) {
			tests[m[1]] = true
		}
	}
	for file, page := range pages {
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(page, -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, which no test is called", file, m[1])
			}
		}
		for _, m := range regexp.MustCompile("`((?:[\\w.-]+/)+[\\w.-]*)`").FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "NAME") || strings.Contains(m[1], "WING") || m[1] == "bench/runs/" { // patterns, and what a run makes
				continue
			}
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
	}
}

func sourcesAndRoot(t *testing.T) (texts []string) {
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			texts = append(texts, read(t, file))
		}
	})
	return texts
}

// Every rule of the suite has its page and its cases, under its own name, and
// no page or case is left behind by a rule that went.
func TestRulesHaveFiles(t *testing.T) {
	known := map[string]bool{}
	for _, r := range rules.All {
		known[r.Name] = true
		for _, file := range []string{r.Name + ".go", r.Name + ".md", "testdata/" + r.Name + ".txt"} {
			if _, err := os.Stat(filepath.Join("internal/judge/rules", file)); err != nil {
				t.Errorf("rule %s has no internal/judge/rules/%s", r.Name, file)
			}
		}
		if page := read(t, filepath.Join("internal/judge/rules", r.Name+".md")); r.Doc != page {
			t.Errorf("the Doc of rule %s is not its page", r.Name)
		}
	}
	pages, err := filepath.Glob("internal/judge/rules/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if name := strings.TrimSuffix(filepath.Base(page), ".md"); !known[name] {
			t.Errorf("%s is the page of no rule in rules.All", page)
		}
	}
}

// TestFigures: what bench/README.md says about speed, cost and proof is what the
// newest run of that benchmark measured.
func TestFigures(t *testing.T) {
	for heading, figures := range map[string]string{"Speed": "results.json", "What recording costs": "overhead.json", "What an experiment finds": "proof.json"} {
		runs, err := filepath.Glob("bench/runs/*/" + figures)
		if err != nil || len(runs) == 0 {
			t.Fatalf("there is no run with %s: %v", figures, err)
		}
		dir := filepath.Dir(slices.Max(runs))
		measured := read(t, filepath.Join(dir, "README.md"))
		_, section, _ := strings.Cut(read(t, "bench/README.md"), "\n## "+heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !strings.Contains(section, filepath.ToSlash(dir)) {
			t.Errorf("the section %q does not name %s", heading, filepath.ToSlash(dir))
		}
		rows := 0
		for line := range strings.Lines(section) {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			if rows++; !strings.Contains(measured, line) {
				t.Errorf("%s does not say: %s", dir, line)
			}
		}
		if rows == 0 {
			t.Errorf("the section %q has no figures", heading)
		}
	}
}

// CI must run what people are told to run.
func TestCommandsAreThoseOfCI(t *testing.T) {
	const plain, all = "go test ./... ./lab/... ./agent/... ./fleet/...", "GOWHY_TESTS=all go test -p 1 -timeout 30m ./... ./lab/... ./agent/... ./fleet/..."
	for file, command := range map[string]string{
		".ci/run": plain, "Makefile": plain, "README.md": plain, "CONTRIBUTING.md": all, // which CI runs in parts
	} {
		if !slices.Contains(trimmedLines(read(t, file)), command) {
			t.Errorf("%s does not have %q", file, command)
		}
	}
	if info, err := os.Stat(".ci/run"); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf(".ci/run cannot be executed: %v", err)
	}
}

func trimmedLines(text string) (list []string) {
	for l := range strings.Lines(text) {
		list = append(list, strings.TrimSpace(l))
	}
	return list
}

// A step is one command of a document's block with the lines shown below it.
type step struct {
	command string
	output  []string
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(\\$ gowhy.*?)^```$")

// steps reads the fenced blocks that begin with "$ gowhy".
func steps(markdown string) (list []step) {
	for _, block := range consoleBlock.FindAllStringSubmatch(markdown, -1) {
		for l := range strings.Lines(block[1]) {
			l = strings.TrimRight(l, " \n")
			if command, ok := strings.CutPrefix(l, "$ "); ok {
				list = append(list, step{command: command})
			} else {
				last := &list[len(list)-1]
				last.output = append(last.output, l)
			}
		}
	}
	return list
}

// written puts what commands printed below them.
func written(markdown string, list []step) string {
	return consoleBlock.ReplaceAllStringFunc(markdown, func(block string) string {
		var b strings.Builder
		b.WriteString("```console\n")
		for range steps(block) {
			b.WriteString("$ " + list[0].command + "\n")
			for _, l := range list[0].output {
				b.WriteString(l + "\n")
			}
			list = list[1:]
		}
		return b.String() + "```"
	})
}

var (
	figure = regexp.MustCompile(`[-+−]?\d[\d.,]*\d|\d`)
	// ofRun are words that differ from run to run, as the machine is busy or not.
	ofRun = regexp.MustCompile(`\b(?:high|medium|low) confidence`)
	// openOfRun is what a run leaves open: whether a short one shows a trend of the live heap
	// is a matter of when its last collection was.
	openOfRun = regexp.MustCompile(`(?m)^not checked .*\n(?: .*\n)*`)
	units     = []string{"ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "ns,", "µs,", "ms,", "s,", "#ns", "#µs", "#ms", "#s"}
)

// stream returns a text as words in which figures are alike, wherever its lines end.
func stream(text string) string {
	var words []string
	for _, w := range strings.Fields(figure.ReplaceAllString(ofRun.ReplaceAllString(text, "# confidence"), "#")) {
		if slices.Contains(units, w) {
			continue // one run takes milliseconds, another one a second
		}
		words = append(words, w)
	}
	return " " + strings.Join(words, " ") + " "
}

// shows reports whether the output has the lines wanted, one after the other. Figures may
// differ, and other lines stand between.
func shows(output string, want []string) error {
	rest := stream(openOfRun.ReplaceAllString(output, ""))
	for _, l := range strings.Split(openOfRun.ReplaceAllString(strings.Join(want, "\n"), ""), "\n") {
		if strings.TrimSpace(l) == "" {
			continue
		}
		s := stream(l)
		i := strings.Index(rest, s)
		if i < 0 {
			return fmt.Errorf("does not show\n\t%s\nwhere it should in\n%s", l, output)
		}
		rest = rest[i+len(s)-1:]
	}
	return nil
}

func TestShows(t *testing.T) {
	const output = "the program is slow\n\n  1. oversubscribed   1.7 cores in 12 ms\n     where: main.worker, high confidence\nnext: gowhy explain x\n"
	for _, tt := range []struct {
		want string
		ok   bool
	}{
		{"the program is slow", true},
		{"program is slow", true},
		{"is slow|the program", false},
		{"1. oversubscribed 11.8 cores in 1.3 s|where: main.worker, low confidence", true},
		{"1. oversubscribed 1.7 cores|next: gowhy explain x", true},
		{"cores in 12 ms where:|main.worker, low confidence next:", true},
		{"next: gowhy explain x|the program is slow", false},
		{"the program is healthy", false},
		{"oversubscribed 1.7 Ps", false},
		{"not checked the heap: 3 collections|  show no trend|next: gowhy explain x", true},
		{"not checked the heap|next: gowhy explain y", false},
		{"|", true},
		{"the program is slow||1. oversubscribed", true},
	} {
		if err := shows(output, strings.Split(tt.want, "|")); (err == nil) != tt.ok {
			t.Errorf("shows(%q): error %v, want it shown: %v", tt.want, err, tt.ok)
		}
	}
}

var update = flag.Bool("update", false, "write what the documents' commands print into them")

// The README's blocks run, in its order and in one empty directory, on a PATH
// with the gowhy of this tree. What they show depends on timing: where others
// take the processors away a demo may be slow in another way, and gowhy is right
// to say something else.
func TestReadmeBlocks(t *testing.T) {
	attempt.Only(t, "records programs and proves a fix for a minute")
	text := read(t, "README.md")
	list := steps(text)
	if len(list) == 0 {
		t.Fatal("README.md has no block that begins with \"$ gowhy\"")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/gowhy").CombinedOutput(); err != nil {
		t.Fatalf("gowhy does not build: %v\n%s", err, out)
	}
	if err := attempt.Repeat(t, func() error { return runBlocks(list, bin, t.TempDir()) }); err != nil {
		t.Error(err)
	} else if *update {
		if err := os.WriteFile("README.md", []byte(written(text, list)), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// runBlocks runs commands in a directory, and may compare what they print or keep it.
func runBlocks(list []step, bin, dir string) error {
	for i, s := range list {
		cmd := exec.Command("sh", "-c", s.command)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "COLUMNS=80")
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("$ %s\n%v\n%s", s.command, err, out)
		}
		// Where it was built is of no interest to a reader.
		text := strings.ReplaceAll(string(out), bin+string(filepath.Separator), "")
		if *update {
			list[i].output = trimmedRight(text)
			continue
		}
		if err := shows(text, s.output); err != nil {
			return fmt.Errorf("$ %s\n%v", s.command, err)
		}
	}
	return nil
}

func trimmedRight(text string) (list []string) {
	for l := range strings.Lines(strings.TrimRight(text, "\n")) {
		list = append(list, strings.TrimRight(l, " \n"))
	}
	return list
}

// The ledger of a real trace adds up, with nothing that the model's own tests
// made up in it.
func TestLedgerAddsUp(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.out")
	writeTrace(t, file, 200*time.Millisecond)
	for _, keep := range []int{-1, 0} {
		m, err := evidence.Load(t.Context(), []string{file}, evidence.Options{Keep: keep})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Check(); err != nil {
			t.Errorf("keep %d: %v", keep, err)
		}
		if m.Sched.Total().Running <= 0 || len(m.Sched.Waits) == 0 {
			t.Errorf("keep %d: a program that worked for 200 ms ran for %v with %d waits, want more than 0 of both", keep, m.Sched.Total().Running, len(m.Sched.Waits))
		}
	}
}

// writeTrace records workers that do everything under one mutex.
func writeTrace(t *testing.T, file string, d time.Duration) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := trace.Start(f); err != nil {
		t.Skipf("this test is being traced itself: %v", err)
	}
	defer trace.Stop()
	var mu sync.Mutex
	var wg sync.WaitGroup
	words, stop := map[int]int{}, time.Now().Add(d)
	for worker := range 16 {
		wg.Go(func() {
			for i := 0; time.Now().Before(stop); i++ {
				mu.Lock()
				for k := range 2000 {
					words[(worker+i+k)%5000]++
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

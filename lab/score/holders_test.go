package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// What is right in an answer about who holds memory.
func TestJudgeHolder(t *testing.T) {
	global := &truth.Holder{Name: "a", Kind: truth.HeldByGlobal, Holder: "main.sessions"}
	waiting := &truth.Holder{Name: "a", Kind: truth.HeldByGoroutines, Holder: "main.await"}
	timer := &truth.Holder{Name: "a", Kind: truth.HeldByTimers, Holder: "main.remind"}
	queued := &truth.Holder{Name: "a", Kind: truth.HeldByFinalizers}
	native := &truth.Holder{Name: "a", Kind: truth.HeldOutside}
	pages := &truth.Holder{Name: "a", Kind: truth.HeldByPages}
	well := &truth.Holder{Name: "a", Kind: truth.WantNone}
	const much = 72 << 20
	for name, c := range map[string]struct {
		want   *truth.Holder
		answer HolderAnswer
		right  bool
	}{
		"the variable":          {global, HolderAnswer{Kind: "global", Name: "main.sessions", Bytes: much}, true},
		"another":               {global, HolderAnswer{Kind: "global", Name: "main.sessionsOf", Bytes: much}, false},
		"of another kind":       {global, HolderAnswer{Kind: "goroutines", Name: "main.sessions", Bytes: much}, false},
		"too little":            {global, HolderAnswer{Kind: "global", Name: "main.sessions", Bytes: 1 << 20}, false},
		"nothing":               {global, HolderAnswer{}, false},
		"no answer":             {global, HolderAnswer{Kind: "global", Name: "main.sessions", Bytes: much, Failed: "x"}, false},
		"goroutines":            {waiting, HolderAnswer{Kind: "goroutines", Name: "main.start.gowrap1, started as main.await (chan receive)", Bytes: much}, true},
		"a closure on the way":  {timer, HolderAnswer{Kind: "timers", Name: "runtime.allp", Way: "runtime.allp → func main.remind.func1 → []byte", Bytes: much}, true},
		"another closure":       {timer, HolderAnswer{Kind: "timers", Name: "runtime.allp", Way: "func main.remindAll.func1", Bytes: much}, false},
		"finalizers, no name":   {queued, HolderAnswer{Kind: "finalizers", Name: "those that wait", Bytes: much}, true},
		"the row":               {native, HolderAnswer{Kind: rowKind, Name: "native: cgo, mmap, threads' stacks", Bytes: much}, true},
		"another row":           {pages, HolderAnswer{Kind: rowKind, Name: "heap: alive at the last collection", Bytes: much}, false},
		"silence":               {well, HolderAnswer{Verdict: "idle"}, true},
		"a remark":              {well, HolderAnswer{Findings: []WaitFinding{{Rule: "x", Remark: true}}}, true},
		"a false alarm":         {well, HolderAnswer{Findings: []WaitFinding{{Rule: "x"}}}, false},
		"silence for no answer": {well, HolderAnswer{Failed: "x"}, false},
	} {
		if j := judgeHolder(&c.answer, c.want); j.right() != c.right {
			t.Errorf("%s: right %v, want %v", name, j.right(), c.right)
		}
	}
}

// What holders have, beside what the collector found alive.
func TestHoldersCompare(t *testing.T) {
	for _, c := range []struct {
		reached, marked, allocated int64
		told, agrees, ok           bool
	}{
		{reached: 100, marked: 100, told: true, agrees: true, ok: true},
		{reached: 97, marked: 100, told: true, agrees: true, ok: true},
		{reached: 96, marked: 100, told: true, ok: true},
		{reached: 94, marked: 100, ok: true},
		{reached: 104, marked: 100, told: true, ok: true},
		{reached: 104, marked: 100, allocated: 10, told: true, ok: true},
		{reached: 109, marked: 100, allocated: 10, told: true, agrees: true, ok: true},
		{reached: 100},
		{reached: 100, marked: -1},
	} {
		a := HolderAnswer{Reached: c.reached, Marked: c.marked, Allocated: c.allocated}
		if told, agrees, ok := a.compares(); told != c.told || agrees != c.agrees || ok != c.ok {
			t.Errorf("compares() of %d of %d and %d = %v, %v, %v, want %v, %v, %v", c.reached, c.marked, c.allocated, told, agrees, ok, c.told, c.agrees, c.ok)
		}
	}
}

// The page has a row for each release, the sums last, and each wrong answer.
func TestHoldersPage(t *testing.T) {
	known, err := truth.ReadHolders(filepath.Join(labDir, "holders"))
	if err != nil {
		t.Fatal(err)
	}
	h := &Holders{Schema: schema}
	for _, release := range []string{"go1.27.4", "go1.22.12"} {
		for _, p := range known.Programs {
			h.Answers = append(h.Answers, HolderAnswer{Program: p.Name, Release: release, Evidence: HolderPID, Kind: p.Kind, Name: p.Holder, Bytes: 72 << 20, Reached: 80 << 20, Marked: 81 << 20})
		}
	}
	h.Answers[0].Name, h.Answers[1].Failed = "main.other|", "it fell"
	file := filepath.Join(t.TempDir(), "holders.json")
	if err := h.save(file, known); err != nil {
		t.Fatal(err)
	}
	saved, err := loadHolders(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.Answers) != len(h.Answers) {
		t.Fatalf("loadHolders() = %d answers, want the %d that were saved", len(saved.Answers), len(h.Answers))
	}
	rows, all, err := judgeHolders(saved, known)
	if err != nil {
		t.Fatal(err)
	}
	// Rows of the account have another kind than the truth's.
	if len(rows) != 3 || rows[0].release != "go1.22.12" || rows[2].release != "" || rows[2].First != (Share{24, 32}) || rows[2].Silent != (Share{50, 50}) || rows[2].Failed != 1 || rows[2].Told != (Share{81, 81}) || rows[2].Agrees != (Share{81, 81}) {
		t.Errorf("judgeHolders() = %+v, "+
			"want three rows, of go1.22.12 first and of all last, with first {24 32}, silent {50 50}, 81 of 81 told of and within, 1 failed", rows)
	}
	var b bytes.Buffer
	if err := writeHolders(&b, saved, known, rows, all, &Accounts{Answers: []AccountAnswer{{Program: "holders/a", Before: 100 << 20, After: 100 << 20, Parts: 103 << 20}, {Program: "holders/b", Before: 100 << 20, After: 100 << 20, Parts: 100 << 20}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| pid | all | 75 %", "no answer", "| `global-map` | ✓ |", "`main.other `", "## Each wrong answer", "it fell", "**50 % (1 of 2", "| `holders/a` | 100.00 | 100.00 | 103.00 | +3.00 % |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, b.String())
		}
	}
	saved.Answers[0].Program = "nobody"
	if _, _, err := judgeHolders(saved, known); err == nil {
		t.Error("an answer about nobody is judged")
	}
}

// TestSavedHolders: HOLDERS.md is what holders.json, account.json and the truth give.
func TestSavedHolders(t *testing.T) {
	o := options{lab: labDir, out: filepath.Join(t.TempDir(), "HOLDERS.md"), say: io.Discard}
	for _, name := range []string{"holders.json", "account.json"} {
		b, err := os.ReadFile(filepath.Join(labDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(o.out), name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	held, err := o.savedHolders()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.holdersPage(held.answers, held.known); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(o.out)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(labDir, "HOLDERS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("lab/HOLDERS.md is not what lab/holders.json gives: go run ./lab/score -holders -from lab/holders.json")
	}
}

// Two programs are run, and their memory is where it is.
func TestHolderRuns(t *testing.T) {
	attempt.Only(t, "builds gowhy and runs two programs")
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS != "linux" {
		t.Skip("memory is read on Linux")
	}
	known, err := truth.ReadHolders(filepath.Join(labDir, "holders"))
	if err != nil {
		t.Fatal(err)
	}
	bed, err := testbed.New("")
	if err != nil {
		t.Fatal(err)
	}
	defer bed.Close()
	r := &holderRunner{waitRunner{bed: bed}}
	answers, err := r.all(t.Context(), known.Dir, []string{ownRelease}, []truth.Holder{*known.Program("mmap"), *known.Program("arena-fine")})
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) < 2 {
		t.Errorf("%d answers", len(answers))
	}
	for i := range answers {
		if j := judgeHolder(&answers[i], known.Program(answers[i].Program)); !j.right() {
			t.Errorf("%s: %s %q with %d bytes, alarms %q, failed %q, want %s %q",
				j.answer.Program, j.answer.Kind, j.answer.Name, j.answer.Bytes, j.alarms, j.answer.Failed, j.want.Kind, j.want.Holder)
		}
	}
}

// The parts may be anywhere between what the kernel said before and after.
func TestApart(t *testing.T) {
	for parts, want := range map[int64]float64{100: 0, 110: 0, 105: 0, 90: -0.1, 121: 0.1} {
		a := AccountAnswer{Before: 110, After: 100, Parts: parts}
		if got := a.Apart(); got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%d beside 100 to 110 is %v apart, want %v", parts, got, want)
		}
	}
}

// A few programs are asked, and the parts are what the kernel says.
func TestAccountRuns(t *testing.T) {
	attempt.Only(t, "builds gowhy and runs four programs")
	if runtime.GOOS != "linux" {
		t.Skip("mappings are read on Linux")
	}
	bed, err := testbed.New("")
	if err != nil {
		t.Fatal(err)
	}
	defer bed.Close()
	answers, err := accountsOf(t.Context(), bed, filepath.Join(labDir, "holders"), []string{"global-map", "mmap", "fragmentation", "arena-fine"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if a := &answers[i]; !a.right() || a.Parts < leastHeld {
			t.Errorf("%s: %d bytes in parts, %.2f%% apart from %d to %d, failed %q, want %d or more, %.2f%% at most",
				a.Program, a.Parts, 100*a.Apart(), a.Before, a.After, a.Failed, leastHeld, 100*wantApart)
		}
	}
}

package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/gowhy/gowhy/internal/know/model"
)

// eachLine puts every line of a text into a wrapping.
func eachLine(text string, wrap func(i int, line string) string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		b.WriteString(wrap(i, line) + "\n")
	}
	return b.String()
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func second(i int) time.Time { return time.Unix(1_700_000_000+int64(i), int64(i)*1e6).UTC() }

func inCRI(stream string, size int) func(i int, line string) string {
	return func(i int, line string) string {
		var b strings.Builder
		at := second(i).Format(time.RFC3339Nano)
		for len(line) > size {
			fmt.Fprintf(&b, "%s %s P %s\n", at, stream, line[:size])
			line = line[size:]
		}
		return b.String() + at + " " + stream + " F " + line
	}
}

func inDocker(i int, line string) string {
	return `{"log":` + quoted(line+"\n") + `,"stream":"stderr","time":"` + second(i).Format(time.RFC3339Nano) + `"}`
}

// inDockerPieces returns what Docker makes of a line over its limit.
func inDockerPieces(i int, line string) string {
	n := min(len(line), 40)
	if n < 40 {
		return inDocker(i, line)
	}
	return `{"log":` + quoted(line[:n]) + `,"stream":"stderr","time":"` + second(i).Format(time.RFC3339Nano) + `"}` + "\n" + inDocker(i, line[n:])
}

func inUTF16(text string) string {
	b := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(text)) {
		b = append(b, byte(c), byte(c>>8))
	}
	return string(b)
}

func prefixed(before string) func(int, string) string {
	return func(i int, line string) string {
		return strings.ReplaceAll(before, "TIME", second(i).Format("15:04:05.000")) + line
	}
}

// wrappings put a text into a log in the ways that logs have.
var wrappings = map[string]func(text string) string{
	"log before and behind": func(s string) string {
		return "2024/05/01 10:00:00 INFO started (main.go:5)\nhandled f(x)\n" + s + "exit status 2\nmake: *** [Makefile:3: run] Error 1\n"
	},
	"panic": func(s string) string {
		return "panic: boom [recovered]\n\tpanic: boom\n[signal SIGSEGV: code=0x1]\n\n" + s
	},
	"fatal": func(s string) string { return "fatal error: all goroutines are asleep - deadlock!\n\n" + s },
	"SIGQUIT": func(s string) string {
		return "SIGQUIT: quit\nPC=0x47 m=0 sigcode=0\n\n" + s + "\nrax    0xca\nrbx    0x0\n"
	},
	"CRLF":      func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	"UTF-8":     func(s string) string { return "\ufeff" + s },
	"UTF-16":    inUTF16,
	"fence":     func(s string) string { return "# Hangs\n\nIt hangs (always):\n```\n" + s + "```\nWhat (now)?\n" },
	"indent":    func(s string) string { return "It hangs:\n\n" + eachLine(s, prefixed("    ")) + "\nThanks\n" },
	"quote":     func(s string) string { return eachLine(s, prefixed("> ")) },
	"curl -i":   func(s string) string { return "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + s },
	"journald":  func(s string) string { return eachLine(s, prefixed("May  1 TIME node7 app[1234]: ")) },
	"syslog":    func(s string) string { return eachLine(s, prefixed("<11>1 2024-05-01TTIMEZ node7 app 1234 - - ")) },
	"compose":   func(s string) string { return eachLine(s, prefixed("app-1  | ")) },
	"stern":     func(s string) string { return eachLine(s, prefixed("web-7d9f server ")) },
	"CRI":       func(s string) string { return eachLine(s, inCRI("stderr", 1<<14)) },
	"CRI, long": func(s string) string { return eachLine(s, inCRI("stderr", 30)) },
	"CRI of a zap field": func(s string) string {
		return eachLine(`{"level":"error","msg":"boom","stack":`+quoted(s)+`,"n":1}`, inCRI("stdout", 200))
	},
	"docker":         func(s string) string { return eachLine(s, inDocker) },
	"docker, pieces": func(s string) string { return eachLine(s, inDockerPieces) },
	"docker of a slog field": func(s string) string {
		return eachLine(`{"time":"2024-05-01T10:00:00Z","level":"ERROR","msg":"a \"quote\"","stack":`+quoted(s)+"}", inDocker)
	},
	"docker of compose": func(s string) string { return eachLine(eachLine(s, inDocker), prefixed("app-1  | ")) },
	"slog text": func(s string) string {
		return `time=2024-05-01T10:00:00Z level=ERROR msg="it failed" stack=` + strconv.Quote(s) + " n=1\n"
	},
	"log.Print": func(s string) string { return "2024/05/01 10:00:00 " + s },
	"journald, without blanks": func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString("May 01 10:00:00 node7 app[1234]: " + line + "\n")
			}
		}
		return b.String() + "May 01 10:00:00 node7 app[1234]: next (one)\n"
	},
	"two writers": func(s string) string {
		return eachLine(s, func(i int, line string) string {
			return "app-1  | " + line + "\ndb-1   | checkpoint(1) done\ndb-1   | \t/var/lib/db.go:5"
		})
	},
}

// A dump is the same wherever it stands.
func TestWrappedDump(t *testing.T) {
	text := string(fixture(t, "text-1.26/dump.txt"))
	want := loadFixture(t, "text-1.26/dump.txt")
	for name, wrap := range wrappings {
		m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(wrap(text))}), "x"))
		sameGoroutines(t, name, m, want)
		m = load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(wrap(string(allAsleep) + "\n\n" + strings.ReplaceAll(goroutinesOf(2, "select"), "[running]", "[chan receive]")))}), "x"))
		if !m.Moment.Dead {
			t.Errorf("%s: moment %+v, want that of a deadlock", name, m.Moment)
		}
		m = load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(wrap(string(allAsleep) + "\n\n" + goroutinesOf(2, "sleep")))}), "x"))
		if m.Moment != nil && m.Moment.Dead {
			t.Errorf("%s: who sleeps wakes up, and the moment is that of a deadlock", name)
		}
	}
}

// TestNarrowDump reads a dump that a terminal of 60 columns has cut, behind a prefix that is
// not repeated where a line goes on.
func TestNarrowDump(t *testing.T) {
	const prefix = "Oct 01 22:57:16 host srv[7]: "
	var narrow strings.Builder
	for _, line := range strings.Split("goroutine 54 [semacquire, 90 minutes]:\nsync.runtime_Semacquire(0x106a17ec)\n/go/src/runtime/sema.go:43 +0x24\n"+
		"sync.(*Mutex).Lock(0x106a17e8)\n/go/src/sync/mutex.go:82 +0x1fc\nexample.com/line.(*conn).Write(0x1076ca80, 0x106ef000, 0x1000, 0x0)\n"+
		"/src/example/line.go:304 +\n0x1ec\nnet/http.Write(0x1066a000, 0x106ef000, 0x", "\n") {
		line = prefix + line
		narrow.WriteString(line[:min(len(line), 84)] + "\n")
		if len(line) > 84 {
			narrow.WriteString(line[84:] + "\n")
		}
	}
	m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(narrow.String())}), "x"))
	if m.Moment == nil || len(m.Moment.Goroutines) != 1 {
		t.Fatalf("the moment is %+v, want one goroutine, of\n%s", m.Moment, narrow.String())
	}
	f, ok := model.UserFrame(m.Stacks.Frames(m.Moment.Goroutines[0].Stack))
	if !ok || f.Func != "example.com/line.(*conn).Write" || f.Line != 304 || m.Moment.Goroutines[0].Wants == 0 {
		t.Errorf("%+v stands in %+v, want example.com/line.(*conn).Write:304, which waits for a lock", m.Moment.Goroutines[0], f)
	}
}

func sameGoroutines(t *testing.T, name string, m, want *model.Model) {
	t.Helper()
	if m.Goroutines.End == nil || len(m.Goroutines.End.Samples) != len(want.Goroutines.End.Samples) {
		t.Errorf("%s: goroutines %+v, want those of the plain text", name, m.Goroutines.End)
		return
	}
	for i, s := range m.Goroutines.End.Samples {
		w := want.Goroutines.End.Samples[i]
		if f, wf := m.Stacks.Frames(s.Stack), want.Stacks.Frames(w.Stack); !reflect.DeepEqual(f, wf) || !reflect.DeepEqual(s.Labels, w.Labels) || s.Values[0] != w.Values[0] {
			t.Errorf("%s: %+v at %+v, want %+v at %+v", name, s, f, w, wf)
		}
	}
}

// So are profiles in text form, and lines of the runtime.
func TestWrappedTextProfile(t *testing.T) {
	for _, kind := range []string{"heap", "goroutine", "mutex", "block", "threadcreate"} {
		text := string(fixture(t, "text-1.26/"+kind+".txt"))
		want := loadFixture(t, "text-1.26/"+kind+".txt")
		for name, wrap := range wrappings {
			if name == "journald, without blanks" {
				continue // the tabs after # are gone
			}
			m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(wrap(text))}), "x"))
			for _, p := range [][2]*model.Profile{{m.LiveHeap.End, want.LiveHeap.End}, {m.Goroutines.End, want.Goroutines.End}, {m.Mutex, want.Mutex}, {m.Block, want.Block}, {m.ThreadCreate, want.ThreadCreate}} {
				if (p[0] == nil) != (p[1] == nil) || p[0] != nil && !reflect.DeepEqual(p[0].Samples, p[1].Samples) {
					t.Errorf("%s of %s: %+v, want %+v", name, kind, p[0], p[1])
				}
			}
			if m.Stacks.Len() != want.Stacks.Len() {
				t.Errorf("%s of %s: %d stacks, want %d", name, kind, m.Stacks.Len(), want.Stacks.Len())
			}
		}
	}
}

// TestJoinedDump: goroutines that a tool has joined count as many as they are.
func TestJoinedDump(t *testing.T) {
	const text = "Showing 2 unique goroutines out of 49 total:\n\n48 goroutines [semacquire, 4 minutes]:\nsync.runtime_Semacquire(0xc208052534)\n\t/go/src/runtime/sema.go:199 +0x30\nsync.(*RWMutex).RLock(0xc208052528)\n\t/go/src/sync/rwmutex.go:36 +0x5e\nmain.get(0x1)\n\t/src/main.go:9 +0x1\n\n1 goroutine [sleep]:\ntime.Sleep(0x5)\n\t/go/src/time/sleep.go:9 +0x3\nmain.main()\n\t/src/main.go:4 +0x5\n"
	m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(text)}), "x"))
	if m.Goroutines.End == nil || len(m.Goroutines.End.Samples) != 2 || m.Goroutines.End.Samples[0].Values[0] != 48 {
		t.Fatalf("the goroutines are %+v, want two samples, the first of 48", m.Goroutines.End)
	}
	if s := m.Moment.Goroutines[0]; s.Count != 48 || s.Waited != 4*time.Minute || s.Wants == 0 {
		t.Errorf("%d goroutines wait %v for lock %d, want 48, 4m0s, some lock", s.Count, s.Waited, s.Wants)
	}
}

// TestGoroutineGroups: groups are read without the profile's first line, behind a fence,
// and with blanks for tabs.
func TestGoroutineGroups(t *testing.T) {
	const groups = "7 @ 0x4416ea 0x4c72e9 0x472411\n#\t0x4c72e8\tmain.read+0x9c8\t/src/main.go:15\n\n5 @ 0x4416ea 0x4c72e9\n#\t0x4c72e8\tmain.write+0x3bc\t/src/main.go:16\n"
	for name, text := range map[string]string{
		"alone":        groups,
		"fence":        "It grows:\n```\n" + groups + "```\n",
		"blanks":       strings.ReplaceAll(groups, "\t", "        "),
		"without sign": "goroutine profile: total 12\n" + strings.ReplaceAll(groups, "#\t", "        "),
	} {
		m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(text)}), "x"))
		if m.Goroutines.End == nil || len(m.Goroutines.End.Samples) != 2 {
			t.Errorf("%s: the goroutines are %+v, want two samples", name, m.Goroutines.End)
			continue
		}
		s := m.Goroutines.End.Samples[0]
		f, ok := model.UserFrame(m.Stacks.Frames(s.Stack))
		if !ok || s.Values[0] != 7 || f.Func != "main.read" || f.File != "/src/main.go" || f.Line != 15 {
			t.Errorf("%s: %d goroutines in %s, %s:%d, %v, want 7 in main.read, /src/main.go:15, true",
				name, s.Values[0], f.Func, f.File, f.Line, ok)
		}
	}
	// A record of another profile is no group of goroutines.
	for _, text := range []string{"an address @ 0x4416ea is wrong\n", "12 7 @ 0x4416ea 0x4c72e9\n#\t0x4c72e8\tmain.read+0x9c8\t/src/main.go:15\n"} {
		if _, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"x": []byte(text)}), "x")}, Options{}); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func goroutinesOf(n int, state string) string {
	var b strings.Builder
	b.WriteString("goroutine 1 [running]:\nmain.report(0x1)\n\t/src/main.go:9 +0x1d\n\n")
	for i := 2; i <= n; i++ {
		fmt.Fprintf(&b, "goroutine %d [%s]:\nmain.wait(0x%x)\n\t/src/main.go:20 +0x2f\ncreated by main.main in goroutine 1\n\t/src/main.go:3 +0x4\n\n", i, state, i)
	}
	return b.String()
}

const recovered = "2024/05/01 10:00:00 http: panic serving 127.0.0.1:5000: boom\ngoroutine 77 [running]:\nnet/http.(*conn).serve.func1()\n\t/go/src/net/http/server.go:1947 +0xbe\npanic({0x63e500?, 0x6f1a30?})\n\t/go/src/runtime/panic.go:785 +0x132\n"

// Of several dumps the first and the last are the ends of the run, whatever is between.
func TestDumpsInOneLog(t *testing.T) {
	noise := strings.Repeat("2024/05/01 10:00:00 handled in 3ms\n", 200)
	first, middle, last := goroutinesOf(3, "select"), goroutinesOf(4, "IO wait"), goroutinesOf(7, "sync.Mutex.Lock")
	for name, c := range map[string]struct {
		log        string
		start, end int64
		note       string
	}{
		"three":                {first + noise + middle + noise + last, 3, 7, "3 goroutine dumps"},
		"without a gap":        {first + last, 3, 7, "2 goroutine dumps"},
		"of two processes":     {eachLine(first, prefixed("app-1  | ")) + eachLine(last, prefixed("app-2  | ")), 0, 7, "of 2 processes"},
		"with others between":  {strings.ReplaceAll(last, "goroutine 5 ", "2024/05/01 10:00:00 handled in 3ms\ngoroutine 5 "), 0, 7, ""},
		"after panics":         {recovered + noise + recovered + "SIGQUIT: quit\n\n" + strings.ReplaceAll(last, "[running]", "[select]"), 0, 7, "as a panic prints them: 2"},
		"panics only":          {recovered + noise + recovered, 0, 1, "says nothing of the others"},
		"panics behind a dump": {last + noise + recovered, 0, 7, "as a panic prints them: 1"},
	} {
		m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(noise + c.log)}), "x"))
		var start, end int64
		if m.Goroutines.Start != nil {
			start = total(m.Goroutines.Start, "goroutine")
		}
		if m.Goroutines.End != nil {
			end = total(m.Goroutines.End, "goroutine")
		}
		if start != c.start || end != c.end || c.note != "" && !noted(m, c.note) {
			t.Errorf("%s: %d goroutines at the start and %d at the end, notes %q; want %d and %d and %q", name, start, end, m.Run.Coverage.Notes, c.start, c.end, c.note)
		}
	}
}

// What only looks like a dump is none.
func TestNoDump(t *testing.T) {
	for _, text := range []string{
		"the goroutine 5 [is] fine\n", "goroutine 5 is running\n", "we saw goroutine 7 [running] in the log\n",
		`{"msg":"goroutine 1 [running] is all it says"}` + "\n", "heap profile: 404 not found\n", "--- mutex: busy\n",
	} {
		if _, err := Load(t.Context(), []string{filepath.Join(files(t, map[string][]byte{"x": []byte(text)}), "x")}, Options{}); err == nil || !strings.Contains(err.Error(), "not a trace or profile") && !strings.Contains(err.Error(), "is JSON") {
			t.Errorf("%q: error %v, want that it is no evidence", text, err)
		}
	}
}

// Where the pieces of a large log end does not matter, nor that a line was cut there.
func TestDumpInLargeLog(t *testing.T) {
	dump := goroutinesOf(2000, "select")
	field := `{"level":"error","stack":` + quoted(dump) + "}"
	noise := eachLine(strings.Repeat("nothing to see here; nothing at all (really)\n", 3*logChunk/100), inCRI("stderr", 1<<14))
	for name, log := range map[string]string{
		"lines": noise + eachLine(dump, inCRI("stderr", 1<<14)) + noise,
		"field": noise + eachLine(field, inCRI("stderr", 1<<14)) + noise,
	} {
		for _, shift := range []int{0, 5000, 70_000} {
			m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": []byte(log[shift/100*100:])}), "x"))
			if m.Goroutines.End == nil || total(m.Goroutines.End, "goroutine") != 2000 || len(m.Goroutines.End.Samples) != 2 {
				t.Errorf("%s, %d bytes later: goroutines %+v, want 2000 in 2 samples", name, shift, m.Goroutines.End)
			}
		}
	}
}

func TestUnquote(t *testing.T) {
	for _, s := range []string{"", "plain", "a\tb\nc\\d\"e/", "grüße 😀", "\x01\x7f"} {
		for _, q := range []string{quoted(s), strconv.Quote(s)} {
			if got := string(unquote([]byte(q[1:] + " more"))); got != s {
				t.Errorf("unquote(%s) = %q, want %q", q, got, s)
			}
		}
	}
	for _, cut := range []string{`a\`, `a\u12`, `a\x1`, `\ud83d\u12`} {
		unquote([]byte(cut)) // no panic
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct{ before, line, text string }{
		{"app-1  | ", "app-1  | \tx", "\tx"}, {"app-1  | ", "app-2  | x", "-"}, {"app-1  | ", "app-1  |", ""},
		{"May  1 10:00:00 n a[5]: ", "May 12 23:59:59 n a[5]: x", "x"}, {"May  1 10:00:00 n a[5]: ", "May 12 23:59:59 n a[6]: x", "-"},
		{"2024-05-01T10:00:00.1Z ", "2024-05-01T10:00:00.123Z  x", " x"}, {"    ", "      x", "  x"}, {"    ", "", ""}, {"    ", "x", "-"},
		{"", "x", "x"}, {"  > ", "  >  x", " x"}, {"  > ", "> x", "-"},
	} {
		p := newPrefix([]byte(c.before))
		text, ok := p.cut([]byte(c.line))
		if !ok {
			text = []byte("-")
		}
		if string(text) != c.text {
			t.Errorf("after %q: %q of %q, want %q", c.before, text, c.line, c.text)
		}
	}
}

// A dump of many goroutines is read as it comes, not held.
func TestDumpOfManyGoroutines(t *testing.T) {
	var b bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&b, "goroutine %d [select]:\nmain.wait(0x%x)\n\t/src/main.go:20 +0x2f\n\n", i+1, i)
	}
	m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"x": b.Bytes()}), "x"))
	if total(m.Goroutines.End, "goroutine") != 20_000 || len(m.Goroutines.End.Samples) != 1 {
		t.Errorf("%d goroutines in %d samples, want 20000 in one", total(m.Goroutines.End, "goroutine"), len(m.Goroutines.End.Samples))
	}
}

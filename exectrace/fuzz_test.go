package exectrace

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// The seeds are small traces: those of testdata/text, whole, cut, and with
// bytes changed. More that fuzzing found are in testdata/fuzz.

// maxFuzz bounds the input: what matters is what the bytes say, not how many.
const maxFuzz = 1 << 20

// seed adds the seeds to a target that takes the bytes of a trace.
func seed(f *testing.F) {
	f.Helper()
	for _, data := range textTraces(f) {
		f.Add(data)
		f.Add(data[:len(data)*2/3])
		for _, at := range []int{headerSize + 1, len(data) / 2, len(data) - 3} {
			hurt := bytes.Clone(data)
			hurt[at] ^= 0x55
			f.Add(hurt)
		}
	}
	f.Add([]byte("go 1.21 trace\x00\x00\x00\x01\x02"))
}

// textTraces returns the traces of testdata/text.
func textTraces(t testing.TB) (out [][]byte) {
	t.Helper()
	files, err := filepath.Glob("testdata/text/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no traces in testdata/text", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := corpus.ParseText(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, data)
	}
	return out
}

// openFuzz opens an input of a fuzz target, nil when it is no trace.
func openFuzz(data []byte) *Trace {
	if len(data) > maxFuzz {
		return nil
	}
	t, err := NewReaderAt(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil
	}
	return t
}

// FuzzWalk checks that cutting a trace into generations ends, loses no byte
// without counting it, and does not depend on how the input comes.
func FuzzWalk(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFuzz || parseHeader(data) == 0 {
			return
		}
		inMemory := walkAll(t, &mapping{data: data, pos: headerSize})
		in := newStream(&slowReader{data})
		if _, err := readHeader(in); err != nil {
			t.Fatal(err)
		}
		if streamed := walkAll(t, in); streamed != inMemory {
			t.Errorf("walk of a stream =\n%s\nwant, as in memory,\n%s", streamed, inMemory)
		}
	})
}

// A slowReader hands out a few bytes at a time.
type slowReader struct{ rest []byte }

func (r *slowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[:min(len(r.rest), 1+len(r.rest)%4099)])
	r.rest = r.rest[n:]
	return n, nil
}

// walkAll describes all generations of an input.
func walkAll(t *testing.T, in input) string {
	t.Helper()
	w := &walker{in: in}
	var s strings.Builder
	end := int64(headerSize)
	for {
		g, err := w.next()
		if errors.Is(err, io.EOF) {
			return s.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		before := g.off - end // of generations that are left out, which count as lost of this one
		if before < 0 || before > g.lost || g.end < g.off || g.lost-before > g.end-g.off || g.end == g.off && g.batches > 0 {
			t.Fatalf("generation from %d to %d after %d, %d lost", g.off, g.end, end, g.lost)
		}
		end = g.end
		g.readClock()
		var tab tables
		tab.load(g)
		fmt.Fprintln(&s, g.number, g.off, g.end, g.batches, g.lost, g.cut, g.gap, g.closed,
			len(g.events), len(tab.strings), len(tab.frames), tab.lost)
		g.lease.release()
	}
}

// FuzzEvents checks that both ways of ordering end, with no more events than
// the bytes can hold, and that what they say follows from what they said before.
func FuzzEvents(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, reference := range []bool{false, true} {
			tr := openFuzz(data)
			if tr == nil || tr.old() {
				return
			}
			n, last := 0, Time(-1<<63)
			for e, err := range tr.Events(EventOptions{reference: reference}) {
				if err != nil {
					if !reference {
						t.Fatal(err)
					}
					break
				}
				// One byte can be three events: a switch between goroutines takes more.
				if n++; n > 2*len(data) {
					t.Fatalf("Events of %d bytes = %d and more, want %d at most", len(data), n, 2*len(data))
				}
				if reference && e.Time <= last && last < 1<<62 {
					t.Fatalf("time of event %d = %d, want more than %d", n, e.Time, last)
				}
				last = e.Time
				_ = describe(&e)
			}
		}
	})
}

// FuzzAccount checks that accounts end, in memory in proportion to the input,
// with no more groups than it has bytes.
func FuzzAccount(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range []Options{{Workers: 1}, {Workers: 1, Window: Range{1000, 2000}}} {
			tr := openFuzz(data)
			if tr == nil {
				return
			}
			if tr.old() && len(data) > 1<<12 {
				return // another reader's business
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a, err := tr.Account(context.Background(), o)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; !tr.old() && got > memoryBound(len(data)) {
				t.Errorf("Account of %d bytes allocates %d, want %d at most", len(data), got, memoryBound(len(data)))
			}
			if err == nil && len(a.Groups) > len(data) {
				t.Errorf("len(Groups) of %d bytes = %d, want no more than bytes", len(data), len(a.Groups))
			}
		}
	})
}

// memoryBound returns what the accounts of an input may allocate in all: fixed
// tables, and a multiple of the input.
func memoryBound(n int) uint64 { return 64<<20 + 4096*uint64(n) }

// FuzzText checks that any bytes that begin like a trace come back from their
// text, and that no text breaks the parser.
func FuzzText(f *testing.F) {
	seed(f)
	files, _ := filepath.Glob("testdata/text/*.txt")
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > maxFuzz {
			return
		}
		if parsed, err := corpus.ParseText(bytes.NewReader(data)); err == nil && len(parsed) > 64+10*len(data) {
			t.Errorf("ParseText of %d bytes = %d bytes, want %d at most", len(data), len(parsed), 64+10*len(data))
		}
		if tr := openFuzz(data); tr != nil && !tr.old() {
			roundTrip(t, data)
		}
	})
}

var updateCorpus = flag.Bool("update-corpus", false, "write the seeds of the fuzz targets to testdata/fuzz")

// The corpora are committed so that a plain test run goes through them.
func TestCorpusIsWritten(t *testing.T) {
	for _, target := range []string{"FuzzWalk", "FuzzEvents", "FuzzAccount", "FuzzText", "FuzzPieces"} {
		dir := filepath.Join("testdata/fuzz", target)
		if *updateCorpus {
			writeCorpus(t, dir)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no corpus: %v", target, err)
		}
		for _, file := range files {
			if info, err := file.Info(); err != nil || info.Size() > 16<<10 {
				t.Errorf("%s/%s is no small seed: %v", dir, file.Name(), err)
			}
		}
	}
}

// writeCorpus writes damaged traces as seeds.
func writeCorpus(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, data := range textTraces(t) {
		for name, change := range map[string]func([]byte) []byte{
			"hole":    func(b []byte) []byte { clear(b[len(b)/3 : len(b)/3+8]); return b },
			"doubled": func(b []byte) []byte { return append(b, b[headerSize:]...) },
			"swapped": func(b []byte) []byte {
				n := len(b) / 2
				return append(append(b[:headerSize:headerSize], b[n:]...), b[headerSize:n]...)
			},
			"rubbish": func(b []byte) []byte {
				return append(b[:len(b)-len(b)/4], bytes.Repeat([]byte{0xff, 1, 49, 52}, 30)...)
			},
		} {
			seed := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", change(bytes.Clone(data)))
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d", name, i)), []byte(seed), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

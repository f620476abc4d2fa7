package record

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGodebugFilter(t *testing.T) {
	want := fixture(t, "godebug-1.26.log")
	prompt := "gc? go on (y/n) "
	in := append(slices.Clone(want), prompt...)
	for size := 1; size < 70; size += 3 {
		var rest, gc, sched bytes.Buffer
		f := newGodebugFilter(&rest, &gc, &sched)
		f.now = func() time.Time { return time.Unix(1_700_000_000, 5).UTC() }
		for chunk := range slices.Chunk(in, size) {
			if n, err := f.Write(chunk); n != len(chunk) || err != nil {
				t.Fatalf("Write() = %d, %v; want %d", n, err, len(chunk))
			}
		}
		if !strings.HasSuffix(rest.String(), "done\n"+prompt) {
			t.Fatalf("in pieces of %d: %q, want the prompt at its end", size, rest.String())
		}
		f.Close()
		for _, line := range strings.SplitAfter(string(in), "\n") {
			stamped := "2023-11-14T22:13:20.000000005Z " + line
			where := map[string]bool{"gc": strings.Contains(gc.String(), stamped), "sched": strings.Contains(sched.String(), stamped), "rest": strings.Contains(rest.String(), line)}
			kind := "rest"
			if strings.HasPrefix(line, "gc ") {
				kind = "gc"
			} else if strings.HasPrefix(line, "SCHED ") {
				kind = "sched"
			}
			for to, is := range where {
				if is != (to == kind) && line != "" {
					t.Errorf("pieces of %d: %q in %s: %v, want %v", size, line, to, is, to == kind)
				}
			}
		}
	}
}

// A runtime that prints schedtrace lists everything when the program panics:
// between the runtime's words and the program's last ones.
func TestGodebugFilterOfPanic(t *testing.T) {
	detail := "SCHED 300ms: gomaxprocs=1 idleprocs=0\n  P0: status=1 schedtick=0\n  M12: p=nil curg=nil\n  G1: status=2(sleep) m=0\n"
	own := "  P: mine\n  Good: status=2\npanic: boom\n"
	for size := 1; size < 40; size += 2 {
		var rest, sched bytes.Buffer
		f := newGodebugFilter(&rest, nil, &sched)
		for chunk := range slices.Chunk([]byte(detail+own), size) {
			f.Write(chunk)
		}
		f.Close()
		if rest.String() != own || strings.Count(sched.String(), "\n") != 4 {
			t.Errorf("pieces of %d: %q and %q, want %q and 4 lines", size, rest.String(), sched.String(), own)
		}
	}
}

// A line that never ends is not held back for ever, and one that was begun
// when the program ended is not lost.
func TestGodebugFilterEnds(t *testing.T) {
	var rest, gc bytes.Buffer
	f := newGodebugFilter(&rest, &gc, nil)
	long := "gc 1 @" + strings.Repeat("x", maxGodebugLine+10)
	io.WriteString(f, long)
	io.WriteString(f, "\ngc 2 @0.1")
	f.Close()
	if rest.String() != long+"\ngc 2 @0.1" || gc.Len() > 0 {
		t.Errorf("%d bytes left, %d of gctrace; want all %d left", rest.Len(), gc.Len(), len(long)+len("\ngc 2 @0.1"))
	}
}

// FuzzGodebugFilter: what goes in comes out, in order, but for the runtime's
// whole lines; the writes' sizes make no difference.
func FuzzGodebugFilter(f *testing.F) {
	f.Add([]byte("a\ngc 1 @0.1s 0%: x\nSCHED 1ms: gomaxprocs=2\ngc 2 @"), 3)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		run := func(size int) (string, int) {
			var rest, own bytes.Buffer
			w := newGodebugFilter(&rest, &own, &own)
			for i := 0; i < len(b); i += size {
				if _, err := w.Write(b[i:min(i+size, len(b))]); err != nil {
					t.Fatal(err)
				}
			}
			w.Close()
			return rest.String(), bytes.Count(own.Bytes(), []byte("\n"))
		}
		rest, lines := run(max(1, size%97))
		whole, wholeLines := run(max(1, len(b)))
		if rest != whole || lines != wholeLines {
			t.Errorf("%q and %d lines, want %q and %d as in one piece", rest, lines, whole, wholeLines)
		}
		if bytes.Count(b, []byte("\n")) != bytes.Count([]byte(rest), []byte("\n"))+lines {
			t.Errorf("%q became %q and %d lines, want as many lines together", b, rest, lines)
		}
	})
}

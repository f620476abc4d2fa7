package profiles

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/store"
)

// real are profiles of this process, by name.
func real(t testing.TB) map[string][]byte {
	t.Helper()
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	defer runtime.SetMutexProfileFraction(0)
	defer runtime.SetBlockProfileRate(0)
	all := map[string][]byte{}
	// A sample is taken of each hundredth of a second of CPU time, of which a busy machine may give less.
	for tries := 0; tries < 100; tries++ {
		var cpu bytes.Buffer
		if err := pprof.StartCPUProfile(&cpu); err != nil {
			t.Fatal(err)
		}
		work()
		pprof.StopCPUProfile()
		all["cpu"] = cpu.Bytes()
		if p, err := profile.ParseData(all["cpu"]); err != nil || len(p.Sample) > 0 {
			break
		}
	}
	for _, name := range []string{"allocs", "heap", "mutex", "block", "goroutine", "threadcreate"} {
		var b bytes.Buffer
		if err := pprof.Lookup(name).WriteTo(&b, 0); err != nil {
			t.Fatal(err)
		}
		all[name] = b.Bytes()
	}
	return all
}

// work computes, allocates, and lets goroutines queue for a lock.
func work() {
	var mu sync.Mutex
	var wg sync.WaitGroup
	kept := [][]byte{}
	for range 4 {
		wg.Go(func() {
			for begin := time.Now(); time.Since(begin) < 100*time.Millisecond; {
				mu.Lock()
				kept = append(kept[:min(len(kept), 100)], make([]byte, 4096))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	runtime.KeepAlive(kept)
}

// TestReal compares the sums of each stack with those of google/pprof's parser.
func TestReal(t *testing.T) {
	for name, data := range real(t) {
		t.Run(name, func(t *testing.T) {
			want, err := profile.ParseData(data)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(data, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, want)
			if len(want.Sample) == 0 && name != "threadcreate" {
				t.Error("the profile is empty")
			}
		})
	}
}

func compare(t *testing.T, got *Profile, want *profile.Profile) {
	t.Helper()
	if len(got.Types) != len(want.SampleType) || got.Duration != time.Duration(want.DurationNanos) {
		t.Fatalf("%d types, %v; want %d, %v", len(got.Types), got.Duration, len(want.SampleType), time.Duration(want.DurationNanos))
	}
	if p := want.PeriodType; p != nil && got.Period != (ValueType{p.Type, p.Unit}) {
		t.Errorf("period %v, want %v", got.Period, p)
	}
	for i, kind := range want.SampleType {
		if got.Types[i] != (ValueType{kind.Type, kind.Unit}) {
			t.Errorf("type %v, want %v", got.Types[i], kind)
		}
		sums, frames := map[store.StackID]int64{}, map[store.StackID][]*store.Frame{}
		for _, s := range want.Sample {
			stack := framesOf(s)
			id := store.IDOf(stack)
			sums[id] += s.Value[i]
			frames[id] = stack
		}
		for _, s := range got.Samples[i] {
			if sums[s.Stack] != s.Value {
				t.Errorf("%s of %v: %d, want %d", kind.Type, got.Stacks[s.Stack], s.Value, sums[s.Stack])
			}
			if !reflect.DeepEqual(got.Stacks[s.Stack], frames[s.Stack]) {
				t.Errorf("a stack is %v, want %v", got.Stacks[s.Stack], frames[s.Stack])
			}
			delete(sums, s.Stack)
		}
		for id, v := range sums {
			if v != 0 {
				t.Errorf("%s of %v: none, want %d", kind.Type, frames[id], v)
			}
		}
	}
}

func framesOf(s *profile.Sample) (frames []*store.Frame) {
	for _, l := range s.Location {
		for _, x := range l.Line {
			name := cmp.Or(x.Function.Name, fmt.Sprintf("0x%x", l.Address))
			frames = append(frames, &store.Frame{Function: name, File: x.Function.Filename, Line: int32(x.Line)})
		}
		if len(l.Line) == 0 {
			frames = append(frames, &store.Frame{Function: fmt.Sprintf("0x%x", l.Address)})
		}
	}
	return frames
}

func packed(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// message makes a protocol buffer of fields: a number or bytes each.
func message(parts ...any) (data []byte) {
	for i := 0; i < len(parts); i += 2 {
		number := protowire.Number(parts[i].(int))
		switch v := parts[i+1].(type) {
		case int:
			data = protowire.AppendVarint(protowire.AppendTag(data, number, protowire.VarintType), uint64(v))
		case string:
			data = protowire.AppendString(protowire.AppendTag(data, number, protowire.BytesType), v)
		case []byte:
			data = protowire.AppendBytes(protowire.AppendTag(data, number, protowire.BytesType), v)
		}
	}
	return data
}

// small returns a profile of one sample, main.work, with more fields behind it.
func small(more ...any) []byte {
	return append(message(6, "", 6, "cpu", 6, "nanoseconds", 6, "main.work", 6, "main.go",
		1, message(1, 1, 2, 2), 5, message(1, 1, 2, 3, 4, 4), 4, message(1, 1, 4, message(1, 1, 2, 12)),
		2, message(1, 1, 2, 70)), message(more...)...)
}

// TestHostile holds that what is wrong is told, and costs nothing.
func TestHostile(t *testing.T) {
	l := Limits{Bytes: 1 << 20, Ratio: 200, Depth: 10, Frames: 100, Symbol: 100, Entries: 1000}
	for _, c := range []struct {
		name string
		data []byte
		want string
		long bool
	}{
		{"well", small(), "", false},
		{"empty", nil, "", false},
		{"garbage", []byte("\x07garbage"), "protocol buffer", false},
		{"cut", small()[:40], "", false}, // perhaps whole fields are left
		{"cut in a field", small()[:len(small())-1], "cut", false},
		{"unknown fields", small(100, 7, 101, "x"), "", false},
		{"a bomb", packed(make([]byte, 4<<20)), "unpacks to more", true},
		{"too long", make([]byte, 2<<20), "bytes", true},
		{"half of a gzip", packed(small())[:20], "unpack", false},
		{"a long name", small(6, strings.Repeat("x", 101)), "string 5", true},
		{"many strings", message(repeat(1001, 6, "")...), "strings", true},
		{"many samples", small(repeat(1001, 2, message(1, 1, 2, 1))...), "samples", true},
		{"many locations", small(repeat(1001, 4, message(1, 1))...), "locations", true},
		{"many functions", small(functions(1001)...), "functions", true},
		{"many types", message(repeat(33, 1, message())...), "types", true},
		{"a location twice", small(4, message(1, 1)), "twice", false},
		{"no such location", small(2, message(1, 9, 2, 1)), "location 9", false},
		{"no such function", small(4, message(1, 2, 4, message(1, 9))), "function 9", false},
		{"no such string", small(5, message(1, 2, 2, 999), 4, message(1, 2, 4, message(1, 2))), "string 999", false},
		{"two values of one type", small(2, message(1, 1, 2, 1, 2, 2)), "values", false},
		{"no value", small(2, message(1, 1)), "0 values", false},
		{"a deep stack", small(2, message(append(repeat(11, 1, 1), 2, 1)...)), "frames", true},
		{"a deep location", small(4, message(append(repeat(11, 4, message(1, 1)), 1, 2)...)), "lines", true},
		{"few locations of many lines", small(4, message(append(repeat(9, 4, message(1, 1)), 1, 2)...), 2, message(1, 2, 1, 2, 2, 1)), "frames", true},
		{"many lines in all locations", small(places(12, 9)...), "lines in all", true},
		{"a location without lines", small(4, message(1, 2, 3, 255), 2, message(1, 2, 2, 1)), "", false},
		{"a negative line", small(4, message(1, 2, 4, message(1, 1, 2, -1)), 2, message(1, 2, 2, 1)), "", false},
	} {
		p, err := Decode(c.data, l)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		case errors.Is(err, ErrLong) != c.long:
			t.Errorf("%s: %v: too long %v, want %v", c.name, err, !c.long, c.long)
		case err == nil && c.name == "well":
			want := []*store.Frame{{Function: "main.work", File: "main.go", Line: 12}}
			if id := store.IDOf(want); len(p.Samples) != 1 || p.Total(0) != 70 || p.Samples[0][0].Stack != id || fmt.Sprint(p.Stacks[id]) != fmt.Sprint(want) {
				t.Errorf("%s: Decode() has the samples %v and the stacks %v, "+
					"want 70 in all, of one type, of stack %d first: %v",
					c.name, p.Samples, p.Stacks, id, want)
			}
		}
	}
}

func repeat(n int, field int, value any) (parts []any) {
	for range n {
		parts = append(parts, field, value)
	}
	return parts
}

// places are n locations of lines each.
func places(n, lines int) (parts []any) {
	for i := range n {
		parts = append(parts, 4, message(append(repeat(lines, 4, message(1, 1)), 1, i+10)...))
	}
	return parts
}

func functions(n int) (parts []any) {
	for i := range n {
		parts = append(parts, 5, message(1, i+10))
	}
	return parts
}

// TestSums adds up equal stacks, leaves out what is 0, and refuses what is negative. A sum
// that is out of range is the largest there is.
func TestSums(t *testing.T) {
	p, err := Decode(small(2, message(1, 1, 2, 30), 4, message(1, 2, 3, 255), 2, message(2, 5), 2, message(1, 2, 2, 100), 2, message(1, 1, 1, 2, 2, 0)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Samples[0]) != 3 || p.Total(0) != 205 || len(p.Stacks) != 2 {
		t.Errorf("%+v: want 100 of each place and 5 without a stack", p)
	}
	if _, err := Decode(small(2, message(1, 1, 2, -100)), Limits{}); err == nil || !strings.Contains(err.Error(), "the value -100") {
		t.Errorf("a value below 0: %v", err)
	}
	p, err = Decode(small(2, message(1, 1, 2, math.MaxInt64-5), 2, message(2, 7)), Limits{})
	if err != nil || p.Total(0) != math.MaxInt64 || p.Samples[0][0].Value < 0 || p.Samples[0][1].Value < 0 {
		t.Errorf("%+v, %v: want the largest sum", p, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(small())
	f.Add(packed(small()))
	for _, data := range real(f) {
		f.Add(data)
	}
	l := Limits{Bytes: 1 << 20, Ratio: 100, Depth: 100, Frames: 100_000, Symbol: 1000, Entries: 10_000}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data, l)
		if err != nil {
			return
		}
		for _, samples := range p.Samples {
			for _, s := range samples {
				if frames, ok := p.Stacks[s.Stack]; s.Stack != 0 && !ok || s.Value == 0 || store.IDOf(frames) != s.Stack {
					t.Fatalf("a sample of %d has the stack %d and the frames %v of stack %d, "+
						"want a value and the frames of its stack",
						s.Value, s.Stack, frames, store.IDOf(frames))
				}
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := real(b)["allocs"]
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, err := Decode(data, Limits{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("google/pprof", func(b *testing.B) {
		for b.Loop() {
			r, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				b.Fatal(err)
			}
			plain, err := io.ReadAll(r)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := profile.ParseUncompressed(plain); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestNameless holds that a function without a name is the address of its place, as the
// place itself is where it has no function.
func TestNameless(t *testing.T) {
	f := &profile.Function{ID: 1, Filename: "a.go"}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "delay", Unit: "nanoseconds"}}, Function: []*profile.Function{f}}
	p.Location = []*profile.Location{{ID: 1, Address: 0x4a0, Line: []profile.Line{{Function: f, Line: 3}}}, {ID: 2, Address: 0x4b0}}
	p.Sample = []*profile.Sample{{Location: p.Location, Value: []int64{7}}}
	var b bytes.Buffer
	if err := p.WriteUncompressed(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b.Bytes(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	want := "[{0x4a0 a.go 3} {0x4b0  0}]"
	if frames := fmt.Sprint(got.Stacks[got.Samples[0][0].Stack]); frames != want {
		t.Errorf("%s, want %s", frames, want)
	}
}

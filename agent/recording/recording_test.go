package recording

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func writeSample(t *testing.T) (path string, trace []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "r.zip")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	trace = bytes.Repeat([]byte("0123456789abcdef"), 1000)
	for name, content := range map[string][]byte{TraceMember: trace, CPUMember: []byte("profile"), "empty": nil} {
		if err := os.WriteFile(w.Path(name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err = w.Finish(Manifest{Start: start, End: start.Add(time.Second), Go: "go1.26", Command: []string{"prog", "-x"},
		Refused: []Refusal{{AllocsMember, "interrupted"}}})
	if err != nil {
		t.Fatal(err)
	}
	return path, trace
}

func content(t *testing.T, m Member) []byte {
	t.Helper()
	f, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path, trace := writeSample(t)
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Cut || r.Manifest == nil || r.Manifest.Schema != Schema || r.Manifest.Go != "go1.26" ||
		len(r.Manifest.Command) != 2 || len(r.Manifest.Refused) != 1 || r.Manifest.End.Sub(r.Manifest.Start) != time.Second {
		t.Fatalf("cut %v, manifest %+v; want what was written, over a second", r.Cut, r.Manifest)
	}
	if len(r.Members) != 2 || r.Members[0].Name != CPUMember || r.Members[1].Name != TraceMember {
		t.Fatalf("members %+v, want the CPU profile and the trace", r.Members)
	}
	if got := content(t, r.Members[1]); !bytes.Equal(got, trace) {
		t.Fatalf("the trace came back as %d bytes, want the %d that were written", len(got), len(trace))
	}
	if _, inPlace := r.Members[1].ReaderAt(); !inPlace {
		t.Error("the trace cannot be read in place")
	}
	left, _ := filepath.Glob(path + "*")
	if len(left) != 1 {
		t.Errorf("left beside the recording: %q", left)
	}
}

func TestStandardToolsOpenIt(t *testing.T) {
	path, trace := writeSample(t)
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(TraceMember)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f) // checks the sum
	if err != nil || !bytes.Equal(got, trace) {
		t.Fatalf("archive/zip reads %d bytes, %v; want the %d of the trace", len(got), err, len(trace))
	}
}

// Every prefix that holds something of a member gives what it holds, and no
// prefix anything else.
func TestEveryCutIsRead(t *testing.T) {
	path, trace := writeSample(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	had := -1
	for n := 0; n < len(whole); n += 7 {
		r, err := NewReader(bytes.NewReader(whole[:n]), int64(n))
		if err != nil {
			if !errors.Is(err, ErrFormat) || had >= 0 {
				t.Fatalf("cut at %d: %v, want %v, and that only before the first cut that is read", n, err, ErrFormat)
			}
			continue
		}
		if !r.Cut {
			t.Fatalf("cut at %d is not noticed", n)
		}
		had = max(had, 0)
		for _, m := range r.Members {
			if m.Name != TraceMember {
				continue
			}
			got := content(t, m)
			if !bytes.HasPrefix(trace, got) || len(got) < had || m.Cut != (len(got) < len(trace)) {
				t.Fatalf("cut at %d: %d bytes of the trace, cut %v; want a prefix of %d or more of its %d", n, len(got), m.Cut, had, len(trace))
			}
			had = len(got)
		}
	}
	if had != len(trace) {
		t.Fatalf("the last cut gave %d bytes, want %d", had, len(trace))
	}
}

func TestForeignArchive(t *testing.T) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	f, _ := z.Create("out/trace.out")
	io.WriteString(f, strings.Repeat("x", 5000))
	z.Close()
	r, err := NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil || r.Manifest != nil || len(r.Members) != 1 {
		t.Fatalf("a foreign archive: %+v, %v; want one member and no manifest", r, err)
	}
	if _, inPlace := r.Members[0].ReaderAt(); inPlace || len(content(t, r.Members[0])) != 5000 {
		t.Error("a compressed member was not unpacked")
	}
}

// Small members come first, whatever their names, and what the writer itself
// keeps beside them is none.
func TestOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.zip")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{AllocsMember: 300, CPUMember: 100, MutexMember: 200} {
		if err := w.Add(name, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	large := Manifest{Command: []string{strings.Repeat("x", 100_000)}}
	if err := w.Finish(large); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var names []string
	for _, m := range r.Members {
		names = append(names, m.Name)
	}
	if want := []string{CPUMember, MutexMember, AllocsMember}; !slices.Equal(names, want) {
		t.Errorf("members %q, want %q", names, want)
	}
}

// What was recorded is not lost when the recording cannot be put in its place.
func TestFailedFinish(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(dir); err == nil {
		t.Error("a directory was taken for a recording")
	}
	path := filepath.Join(dir, "r.zip")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(CPUMember, []byte("profile")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(Manifest{}); err == nil || !strings.Contains(err.Error(), w.dir) {
		t.Errorf("Finish() where a directory is in the way: %v, want an error that names %s", err, w.dir)
	}
	left, _ := os.ReadDir(w.dir)
	if len(left) != 1 || left[0].Name() != CPUMember {
		t.Errorf("left %v", left)
	}
}

// An index may say anything.
func TestHostileIndex(t *testing.T) {
	whole := archive(t, TraceMember, "0123456789")
	index := bytes.Index(whole, []byte("PK\x01\x02"))
	for name, change := range map[string]func(b []byte){
		"encrypted": func(b []byte) { b[6] |= flagEncrypted; b[index+8] |= flagEncrypted },
		"too large": func(b []byte) { // packed and unpacked
			for _, at := range []int{index + 20, index + 24} {
				binary.LittleEndian.PutUint32(b[at:], 1<<30)
			}
		},
	} {
		b := bytes.Clone(whole)
		change(b)
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil || len(r.Members) != 1 {
			t.Fatalf("%s: %+v, %v; want one member", name, r, err)
		}
		m := r.Members[0]
		if _, inPlace := m.ReaderAt(); inPlace != (name == "too large") || m.Cut != inPlace || m.Size > int64(len(b)) {
			t.Errorf("%s: %+v, want at most what the file has, cut and in place only if too large", name, m)
		}
	}
	var many []string
	for i := 0; i < maxMembers+1; i++ {
		many = append(many, strconv.Itoa(i), "x")
	}
	b := archive(t, many...)
	if _, err := NewReader(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrFormat) {
		t.Errorf("%d members: %v, want %v", maxMembers+1, err, ErrFormat)
	}
}

// What unpacks to far more than evidence does is given up early, and members
// that share their bytes are not all read.
func TestBombs(t *testing.T) {
	const size = 192 << 20
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create(TraceMember)
	if err == nil {
		_, err = w.Write(make([]byte, size))
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	whole := packed.Bytes()
	for name, b := range map[string][]byte{"with its index": whole, "cut": whole[:len(whole)-40]} {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Members[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, m); !errors.Is(err, ErrUnpacked) || n > 2*freeUnpacked {
			t.Errorf("%s: %d bytes, %v; want %v within %d", name, n, err, ErrUnpacked, 2*freeUnpacked)
		}
	}

	// Two entries of the index for the same bytes.
	b := archive(t, "a", strings.Repeat("x", 1000), "b", strings.Repeat("y", 1000))
	index := bytes.Index(b, []byte("PK\x01\x02"))
	second := index + 1 + bytes.Index(b[index+1:], []byte("PK\x01\x02"))
	copy(b[second+42:second+46], b[index+42:index+46]) // where it begins
	for _, at := range []int{index + 20, index + 24, second + 20, second + 24} {
		binary.LittleEndian.PutUint32(b[at:], 1500) // more than half of all
	}
	r, err := NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for _, m := range r.Members {
		total += m.Size
	}
	if total > int64(len(b)) {
		t.Errorf("%d bytes of members in a file of %d", total, len(b))
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "r.zip"))
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile(w.Path(TraceMember), []byte("x"), 0o600)
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func FuzzNewReader(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x03\x00\x00\x00\x05\x00\x00\x00traceabc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		if len(r.Members) > maxMembers {
			t.Fatalf("%d members, want at most %d", len(r.Members), maxMembers)
		}
		for _, m := range r.Members {
			if f, err := m.Open(); err == nil {
				io.Copy(io.Discard, io.LimitReader(f, 1<<20))
				f.Close()
			}
			if at, ok := m.ReaderAt(); ok {
				if n, _ := io.Copy(io.Discard, at); n > int64(len(b)) {
					t.Fatalf("a member of %d bytes, want at most the %d of the archive", n, len(b))
				}
			}
		}
	})
}

// What is kept is whole at once, and replaced by what is kept later.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.gowhy")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, heap := range []string{"first", "second"} {
		if err := w.Add(HeapEndMember, []byte(heap)); err != nil {
			t.Fatal(err)
		}
		ended := &Ending{Kind: EndedByMemory, Limit: uint64(i)}
		if i == 0 {
			err = w.Keep(Manifest{Ended: ended})
		} else {
			err = w.Finish(Manifest{Ended: ended})
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Cut || len(r.Members) != 1 || string(content(t, r.Members[0])) != heap || r.Manifest.Ended.Limit != uint64(i) {
			t.Errorf("%+v with %+v, want a whole recording with %q", r.Manifest, r.Members, heap)
		}
		r.Close()
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("left beside the recording: %q", left)
	}
	if err := w.Keep(Manifest{}); err == nil {
		t.Error("a writer that is used up keeps something")
	}
}

// TestIndexWithoutEnd has an index of more entries than a recording has members: they are not all
// read before they are counted.
func TestIndexWithoutEnd(t *testing.T) {
	const entries = 200_000
	entry := make([]byte, 46)
	copy(entry, "PK\x01\x02")
	file := bytes.Repeat(entry, entries)
	end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	binary.LittleEndian.PutUint16(end[8:], entries%(1<<16))
	binary.LittleEndian.PutUint16(end[10:], entries%(1<<16))
	binary.LittleEndian.PutUint32(end[12:], uint32(len(file)))
	file = append(file, end...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := NewReader(bytes.NewReader(file), int64(len(file)))
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrFormat) || !errors.Is(err, ErrMembers) {
		t.Errorf("%v, want %v", err, ErrMembers)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 20<<20 {
		t.Errorf("%d entries of %d bytes took %d bytes", entries, len(file), took)
	}
}

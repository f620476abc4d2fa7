package recording

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var day = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// allMembers has something in every member that gowhy knows. The trace holds
// what a salvager might stumble over.
func allMembers(rnd *rand.Rand) (names []string, content map[string][]byte) {
	content = map[string][]byte{}
	for _, name := range memberNames[1:] {
		b := make([]byte, 1+rnd.Intn(3000))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		content[name] = b
		if name != TraceMember {
			names = append(names, name)
		}
	}
	// The trace stands in the middle: what follows it must be found again.
	names = slices.Insert(names, len(names)/2, TraceMember)
	trace := []byte("go 1.26 trace\x00\x00\x00")
	for i := 0; i < 40; i++ {
		trace = append(trace, content[CPUMember]...)
		trace = append(trace, localSignature+descriptorSignature+"PK\x01\x02PK\x05\x06"...)
	}
	var inner bytes.Buffer // an archive inside, with a descriptor of its own
	z := zip.NewWriter(&inner)
	w, _ := z.Create("notes.txt")
	io.WriteString(w, strings.Repeat("note", 100))
	z.Close()
	content[TraceMember] = append(trace, inner.Bytes()...)
	return names, content
}

// stream writes a recording and returns it with the offset at which each
// member's content is whole.
func stream(t testing.TB, names []string, content map[string][]byte) (file []byte, whole map[string]int) {
	t.Helper()
	var buf bytes.Buffer
	whole = map[string]int{}
	s := NewStream(&buf)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(s.Start(Manifest{Start: day, PID: 1}))
	whole[ManifestMember] = buf.Len()
	for _, name := range names {
		if name == TraceMember {
			w, err := s.Begin(name)
			check(err)
			for rest := content[name]; len(rest) > 0; {
				b := rest[:min(1000, len(rest))]
				rest = rest[len(b):]
				_, err := w.Write(b)
				check(err)
				if !bytes.HasSuffix(buf.Bytes(), b) {
					t.Fatal("what was recorded is held back")
				}
			}
		} else {
			check(s.Add(name, content[name]))
		}
		whole[name] = buf.Len()
		if name == TraceMember {
			whole[name] += descriptor32 // comes with the next call
		}
	}
	check(s.Finish(Manifest{Start: day, End: day.Add(time.Second), PID: 1, Go: "go1.26"}))
	return buf.Bytes(), whole
}

func TestStreamIsRead(t *testing.T) {
	names, content := allMembers(rand.New(rand.NewSource(1)))
	file, _ := stream(t, names, content)
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil || r.Cut || r.Manifest == nil || r.Manifest.Go != "go1.26" || len(r.Notes) > 0 {
		t.Fatalf("NewReader() = %+v, %v; want the last manifest, nothing cut, no notes", r, err)
	}
	if len(r.Members) != len(names) {
		t.Fatalf("%d members, want %d", len(r.Members), len(names))
	}
	for i, m := range r.Members {
		if m.Name != names[i] || m.Cut {
			t.Errorf("member %d is %q, cut %v; want %q, whole", i, m.Name, m.Cut, names[i])
		}
		expect(t, m, content[m.Name])
	}
}

func expect(t *testing.T, m Member, want []byte) {
	t.Helper()
	f, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v; want the %d that were written", m.Name, len(got), err, len(want))
	}
}

func TestStandardToolsReadAStream(t *testing.T) {
	names, content := allMembers(rand.New(rand.NewSource(2)))
	file, _ := stream(t, names, content)
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != len(names)+1 {
		t.Errorf("%d files, want %d: each member once, and the last manifest", len(z.File), len(names)+1)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); err != nil { // checks the sum
			t.Errorf("%s: %v, want a sum that is right", f.Name, err)
		}
	}
	unzip, err := exec.LookPath("unzip")
	if err != nil {
		t.Skip("no unzip here")
	}
	path := filepath.Join(t.TempDir(), "r.zip")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(unzip, "-t", path).CombinedOutput(); err != nil || bytes.Contains(out, []byte("warning")) {
		t.Errorf("unzip -t: %v, want no error and no warning\n%s", err, out)
	}
}

// checkCut opens the first n bytes of a recording: what was whole is whole, of
// the member in which the cut is there is a beginning, and nothing else.
func checkCut(t *testing.T, file []byte, n int, names []string, content map[string][]byte, whole map[string]int) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file[:n]), int64(n))
	if err != nil {
		if !errors.Is(err, ErrFormat) || n >= whole[ManifestMember] {
			t.Errorf("cut at %d: %v, want %v, and that only before the manifest", n, err, ErrFormat)
		}
		return
	}
	if !r.Cut || len(r.Notes) > 0 {
		t.Errorf("cut at %d: Cut %v, notes %q; want it cut, without notes", n, r.Cut, r.Notes)
	}
	if r.Manifest == nil && n >= whole[ManifestMember] {
		t.Errorf("cut at %d: no manifest", n)
	}
	for i, m := range r.Members {
		if i >= len(names) || m.Name != names[i] {
			t.Errorf("cut at %d: member %d is %q", n, i, m.Name)
			return
		}
		got, want := contentOf(t, m), content[m.Name]
		switch {
		case n >= whole[m.Name] && (m.Cut || !bytes.Equal(got, want)):
			t.Errorf("cut at %d: %s is %d bytes, cut %v; want %d, it was whole", n, m.Name, len(got), m.Cut, len(want))
		case !bytes.HasPrefix(want, got) || !m.Cut && len(got) < len(want) || m.Size != int64(len(got)):
			t.Errorf("cut at %d: %s is %d bytes, cut %v; want the first of its %d", n, m.Name, len(got), m.Cut, len(want))
		}
	}
	for i, name := range names {
		if n >= whole[name] && i >= len(r.Members) {
			t.Errorf("cut at %d: %s is lost", n, name)
		}
	}
}

func contentOf(t *testing.T, m Member) []byte { return content(t, m) }

func TestStreamCutAnywhere(t *testing.T) {
	const seed = 3
	rnd := rand.New(rand.NewSource(seed))
	names, content := allMembers(rnd)
	file, whole := stream(t, names, content)
	for i := 0; i < 100; i++ {
		checkCut(t, file, rnd.Intn(len(file)), names, content, whole)
	}
	for n := 0; n < 2000; n++ {
		checkCut(t, file, n, names, content, whole)
	}
	// Around every end, of headers and descriptors above all.
	for _, end := range whole {
		for n := end - 80; n < min(end+80, len(file)); n++ {
			checkCut(t, file, n, names, content, whole)
		}
	}
}

// The end of a small member is found with and without a descriptor at every cut.
func TestSmallStreamCutEverywhere(t *testing.T) {
	names := []string{TraceMember, CPUMember}
	for _, trace := range []string{"go 1.26 trace", "P", "PK", "PK\x07", "PK\x07\x08", "abcPK\x07\x08PK\x03\x04"} {
		content := map[string][]byte{TraceMember: []byte(trace), CPUMember: []byte("profile")}
		file, whole := stream(t, names, content)
		for n := range file {
			checkCut(t, file, n, names, content, whole)
		}
	}
}

func TestLastWholeManifestCounts(t *testing.T) {
	file, _ := stream(t, []string{CPUMember}, map[string][]byte{CPUMember: []byte("profile")})
	index := bytes.Index(file, []byte("PK\x01\x02"))
	for _, c := range []struct {
		n   int
		go_ string
	}{{index, "go1.26"}, {index - 20, ""}} {
		r, err := NewReader(bytes.NewReader(file[:c.n]), int64(c.n))
		if err != nil || r.Manifest == nil || r.Manifest.PID != 1 || r.Manifest.Go != c.go_ || len(r.Members) != 1 {
			t.Errorf("cut at %d of %d: %+v, %v; want one member and a manifest of Go %q", c.n, len(file), r, err, c.go_)
		}
	}
}

// A connection that lost its middle: what follows the torn member is found.
func TestAfterATornMember(t *testing.T) {
	names, content := allMembers(rand.New(rand.NewSource(4)))
	file, whole := stream(t, names, content)
	torn := slices.Clone(file[:whole[TraceMember]-5000])
	torn = append(torn, file[whole[TraceMember]-descriptor32:len(file)-10]...)
	r, err := NewReader(bytes.NewReader(torn), int64(len(torn)))
	if err != nil || len(r.Members) != len(names) {
		t.Fatalf("a torn member: %+v, %v; want %d members", r, err, len(names))
	}
	for i, m := range r.Members {
		if m.Name != names[i] || m.Cut != (m.Name == TraceMember) {
			t.Errorf("member %d is %q, cut %v; want %q, only the trace cut", i, m.Name, m.Cut, names[i])
		}
		if m.Name == TraceMember {
			if got := contentOf(t, m); !bytes.HasPrefix(content[TraceMember], got) || len(got) < len(content[TraceMember])/2 {
				t.Errorf("%d bytes of the torn trace, want a prefix of half or more of its %d", len(got), len(content[TraceMember]))
			}
		} else {
			expect(t, m, content[m.Name])
		}
	}
	// The same inside a member whose header says its size.
	at := whole[names[3]] - len(content[names[3]])/2
	torn = append(slices.Clone(file[:at]), file[whole[names[3]]:len(file)-10]...)
	r, err = NewReader(bytes.NewReader(torn), int64(len(torn)))
	if err != nil || len(r.Members) != len(names) || !r.Members[3].Cut || r.Members[4].Cut {
		t.Fatalf("a torn member that says its size: %+v, %v; want %d members, only the fourth cut", r, err, len(names))
	}
	expect(t, r.Members[4], content[names[4]])
}

// Members over 4 GiB have descriptors with sizes of 8 bytes.
func TestLargeDescriptor(t *testing.T) {
	le := binary.LittleEndian
	const size = 5<<30 + 7
	d := le.AppendUint32([]byte(descriptorSignature), 1)
	d = le.AppendUint64(le.AppendUint64(d, size), size)
	if n, ok := descriptorOf(d, size, true); n != descriptor64 || !ok {
		t.Errorf("descriptorOf(5 GiB) = %d, %v; want %d", n, ok, descriptor64)
	}
	if _, ok := descriptorOf(d, size-1, true); ok {
		t.Error("another size was taken")
	}
	if _, ok := descriptorOf(d[:20], size, true); ok {
		t.Error("half a descriptor was taken")
	}
	if _, ok := descriptorOf(le.AppendUint32(le.AppendUint32(d[:8:8], 7), 8), 7, true); ok {
		t.Error("a stored member was taken that is larger than what it holds")
	}
	// Small members may have large descriptors too.
	var file []byte
	file = append(file, localSignature+"\x2d\x00\x08\x00\x00\x00\x00\x00\x00\x00"...)
	file = append(file, make([]byte, 12)...)
	file = le.AppendUint16(le.AppendUint16(file, uint16(len(TraceMember))), 0)
	file = append(file, TraceMember+"content"...)
	file = le.AppendUint32(append(file, descriptorSignature...), crc32.ChecksumIEEE([]byte("content")))
	file = le.AppendUint64(le.AppendUint64(file, 7), 7)
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(r.Members) != 1 || r.Members[0].Cut {
		t.Fatalf("a member with a large descriptor: %+v, %v; want one that is not cut", r, err)
	}
	expect(t, r.Members[0], []byte("content"))
}

// A member over 4 GiB says so in its extra field, or not at all: then it
// reaches to the end.
func TestLargeSizes(t *testing.T) {
	le := binary.LittleEndian
	extra := le.AppendUint64(le.AppendUint64([]byte{9, 0, 1, 0, 'x', 1, 0, 16, 0}, 7<<32), 5<<32)
	var h header
	if h.sizes64(extra); h.unpacked != 7<<32 || h.packed != 5<<32 || h.open {
		t.Errorf("sizes64() = %+v, want 5<<32 bytes that unpack to 7<<32", h)
	}
	for _, cut := range [][]byte{nil, extra[:8], extra[:len(extra)-1]} {
		var h header
		if h.sizes64(cut); !h.open {
			t.Errorf("sizes64() of %d bytes = %+v, want sizes that are open", len(cut), h)
		}
	}
	file := []byte(localSignature + "\x2d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\xff", 8) + "\x05\x00\x00\x00")
	file = append(file, TraceMember+"content"...)
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(r.Members) != 1 || !r.Members[0].Cut {
		t.Fatalf("a member with a large size: %+v, %v; want one that is cut", r, err)
	}
	expect(t, r.Members[0], []byte("content"))
}

// Other people's archives, as build servers make them, are packed.
func TestForeignArchiveIsSalvaged(t *testing.T) {
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	text := []byte(strings.Repeat("a trace of some length ", 500))
	for _, name := range []string{"out/trace.out", "out/cpu.prof"} {
		w, _ := z.Create(name)
		w.Write(text)
	}
	z.Close()
	file := buf.Bytes()[:buf.Len()-30]
	r, err := NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil || len(r.Members) != 2 || !r.Cut {
		t.Fatalf("a foreign archive without an end: %+v, %v; want 2 members, cut", r, err)
	}
	for _, m := range r.Members {
		expect(t, m, text)
	}
}

func TestManifestIsRoundTripped(t *testing.T) {
	var m Manifest
	fill(reflect.ValueOf(&m).Elem())
	m.Schema = Schema
	var buf bytes.Buffer
	s := NewStream(&buf)
	if err := s.Finish(m); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil || !reflect.DeepEqual(*r.Manifest, m) {
		t.Errorf("NewReader() = %+v, %v; want the manifest %+v", r, err, m)
	}
}

// fill sets every field, so that a field that is not written shows.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeOf(day) {
			v.Set(reflect.ValueOf(day))
			return
		}
		for i := 0; i < v.NumField(); i++ {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic(v.Kind())
	}
}

func archive(t *testing.T, files ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for i := 0; i < len(files); i += 2 {
		if err := store(z, files[i], day, int64(len(files[i+1])), strings.NewReader(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	z.Close()
	return buf.Bytes()
}

func TestWhatIsNotUnderstoodIsTold(t *testing.T) {
	many := make([]string, 0, 2*maxMembers+4)
	for i := 0; i < maxMembers+2; i++ {
		many = append(many, fmt.Sprintf("member%d", i), "x")
	}
	whole := archive(t, many...)
	for _, c := range []struct {
		name string
		file []byte
		note string
	}{
		{"newer", archive(t, ManifestMember, `{"schema":2,"new":{"field":1},"pid":7}`, TraceMember, "x"), "newer gowhy"},
		{"no manifest", archive(t, ManifestMember, `{"some":"thing"}`, TraceMember, "x"), "no schema"},
		{"broken manifest", archive(t, ManifestMember, `{"schema":1,`, TraceMember, "x"), "manifest cannot be read"},
		{"large manifest", archive(t, ManifestMember, `{"schema":1,"go":"`+strings.Repeat("x", maxManifest)+`"}`, TraceMember, "x"), "longer than"},
		{"many members", whole[:len(whole)-1], "more than"},
	} {
		r, err := NewReader(bytes.NewReader(c.file), int64(len(c.file)))
		if err != nil || len(r.Members) == 0 || !strings.Contains(strings.Join(r.Notes, "; "), c.note) {
			t.Errorf("%s: %v, %+v; want members and a note of %q", c.name, err, r, c.note)
			continue
		}
		if c.name == "newer" && (r.Manifest == nil || r.Manifest.PID != 7) {
			t.Errorf("%s: NewReader() has the manifest %+v, want one with PID 7", c.name, r.Manifest)
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	s := NewStream(io.Discard)
	for _, name := range []string{"", "a/b", `a\b`, ManifestMember, strings.Repeat("x", 300)} {
		if err := s.Add(name, []byte("x")); err == nil {
			t.Errorf("%q was taken for a name", name)
		}
	}
	if err := s.Add(CPUMember, []byte("x")); err != nil {
		t.Error("a refused name broke the stream:", err)
	}
	if _, err := s.Begin(CPUMember); err == nil {
		t.Error("a member was written twice")
	}
	if err := s.Finish(Manifest{}); err != nil {
		t.Error(err)
	}
	if err := s.Add(HeapEndMember, []byte("x")); err == nil {
		t.Error("a finished stream took a member")
	}
}

type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("connection lost")
	}
	return len(p), nil
}

func TestStreamKeepsItsFirstError(t *testing.T) {
	s := NewStream(&failing{400})
	if err := s.Start(Manifest{Start: day}); err != nil {
		t.Fatal(err)
	}
	w, err := s.Begin(TraceMember)
	for i := 0; err == nil && i < 10; i++ {
		_, err = w.Write(make([]byte, 100))
	}
	for _, err := range []error{err, s.Add(CPUMember, []byte("x")), s.Finish(Manifest{})} {
		if err == nil || err.Error() != "connection lost" {
			t.Errorf("error %v, want connection lost", err)
		}
	}
}

// What salvaging reads is bounded, whatever the file.
func TestSalvageIsBounded(t *testing.T) {
	endless := localSignature + "\x14\x00\x08\x00\x00\x00" + strings.Repeat("\x00", 16) + "\x01\x00\x00\x00x" // ends nowhere
	for name, file := range map[string]string{
		"members that end nowhere": strings.Repeat(endless, 900) + strings.Repeat("\x00", 1<<20),
		"headers with long names":  endless + strings.Repeat(localSignature, 1<<18),
		"descriptors":              endless + strings.Repeat(descriptorSignature, 1<<18),
	} {
		r := &readCounter{r: strings.NewReader(file)}
		NewReader(r, int64(len(file)))
		if limit := int64(searchRounds*len(file)) + searchLeast + 1<<20; r.bytes > limit || r.calls > 2*limit/lookCost {
			t.Errorf("%s: %d bytes read of a file of %d, by %d calls; want at most %d, by %d", name, r.bytes, len(file), r.calls, limit, 2*limit/lookCost)
		}
	}
}

type readCounter struct {
	r            io.ReaderAt
	bytes, calls int64
}

func (c *readCounter) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.r.ReadAt(p, off)
	c.bytes += int64(n)
	c.calls++
	return n, err
}

func TestAddedMember(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.zip")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(BuildMember, []byte("go1.26")); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(Manifest{Start: day, End: day}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path)
	if err != nil || len(r.Members) != 1 {
		t.Fatalf("Open() = %+v, %v; want one member", r, err)
	}
	defer r.Close()
	expect(t, r.Members[0], []byte("go1.26"))
}

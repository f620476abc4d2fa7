package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
)

func idOf(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// piece returns a part of a recording.
func piece(data []byte, from, until int, tenant string) (io.Reader, Upload) {
	return bytes.NewReader(data[from:until]), Upload{int64(from), int64(len(data)), api.Recording{ID: idOf(data), Tenant: tenant, Service: "cart", Why: "w"}}
}

// names returns the files of a store.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), unfinished) { // what is known of a run, while it is written
			all = append(all, e.Name())
		}
	}
	return all
}

func TestResume(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, Options{}, nil)
	data := made(t, 0)
	id, half := idOf(data), len(data)/2
	if p, err := s.Resume(piece(data, 0, half, "")); err != nil || p.Have != int64(half) || p.Run != nil {
		t.Fatalf("Resume() of a half = %d bytes, run %+v, %v, want %d, no run", p.Have, p.Run, err, half)
	}
	for tenant, want := range map[string]int64{"": int64(half), "b": 0} {
		if p := s.Offset(tenant, id); p.Have != want || p.Run != nil {
			t.Errorf("tenant %q: %+v, want %d", tenant, p, want)
		}
	}
	var offset *OffsetError
	for _, from := range []int{0, half - 1, half + 1} {
		if p, err := s.Resume(piece(data, from, len(data), "")); !errors.As(err, &offset) || offset.Have != int64(half) || p.Have != int64(half) {
			t.Errorf("Resume() at %d = %d bytes, %v, want %d, and an error that has them", from, p.Have, err, half)
		}
	}
	if _, err := s.Resume(piece(data, half, len(data), "b")); !errors.As(err, &offset) || offset.Have != 0 {
		t.Errorf("another tenant goes on with it: %v", err)
	}
	// One breaks off, and what came of it counts.
	in, u := piece(data, half, len(data), "")
	broken := errors.New("broken")
	if p, err := s.Resume(io.MultiReader(io.LimitReader(in, 3), readerOf(broken)), u); !errors.Is(err, broken) || p.Have != int64(half)+3 {
		t.Errorf("Resume() that breaks off = %d bytes, %v, want %d, %v", p.Have, err, half+3, broken)
	}
	p, err := s.Resume(piece(data, half+3, len(data), ""))
	if err != nil || p.Run == nil || p.Old || p.Run.ID != id || p.Run.Service != "cart" || p.Run.Why != "w" || p.Run.Bytes != int64(len(data)) || p.Have != int64(len(data)) {
		t.Fatalf("Resume() of the rest = %d bytes, run %+v, old %v, %v, want %d, %.12s of cart, why w, false",
			p.Have, p.Run, p.Old, err, len(data), id)
	}
	if p, err := s.Resume(piece(data, 5, 5, "")); err != nil || p.Run == nil || !p.Old {
		t.Errorf("Resume() of what is whole = run %+v, old %v, %v, want a run, true", p.Run, p.Old, err)
	}
	f, _, err := s.File("", id)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, _ := io.ReadAll(f); !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d", len(got), len(data))
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left: %v", got)
	}
}

// readerOf only fails.
func readerOf(err error) io.Reader { return failing{err} }

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// TestResumeRefused holds that what is wrong is refused, and leaves nothing.
func TestResumeRefused(t *testing.T) {
	data := made(t, 0)
	for name, c := range map[string]struct {
		change func(u *Upload) []byte
		want   error
	}{
		"another hash":       {func(u *Upload) []byte { u.About.ID = idOf([]byte("x")); return data }, ErrHash},
		"no recording":       {func(u *Upload) []byte { u.About.ID, u.Total = idOf([]byte("x")), 1; return []byte("x") }, ErrFormat},
		"cut":                {func(u *Upload) []byte { d := data[:9]; u.About.ID, u.Total = idOf(d), 9; return d }, ErrFormat},
		"longer than it":     {func(u *Upload) []byte { return append(slices.Clone(data), 0) }, ErrFormat},
		"too long":           {func(u *Upload) []byte { u.Total = 1 << 21; return data }, ErrLong},
		"a path":             {func(u *Upload) []byte { u.About.ID = "../../etc/passwd"; return data }, ErrID},
		"beyond its end":     {func(u *Upload) []byte { u.Offset, u.Total = 5, 4; return data }, ErrFormat},
		"a name for no name": {func(u *Upload) []byte { u.About.Service = "\x1b"; return data }, ErrFormat},
	} {
		dir := t.TempDir()
		s := opened(t, dir, Options{Most: 1 << 20}, nil)
		_, u := piece(data, 0, len(data), "")
		in := c.change(&u)
		if p, err := s.Resume(bytes.NewReader(in), u); !errors.Is(err, c.want) || p.Run != nil {
			t.Errorf("%s: %+v, %v, want %v", name, p, err, c.want)
		}
		if got := names(t, dir); len(got) != 0 && name != "longer than it" {
			t.Errorf("%s: left %v", name, got)
		}
	}
}

// TestResumeCrash has a process killed while it receives a piece: another goes on where
// that was.
func TestResumeCrash(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, Options{}, nil)
	data, other := made(t, 0), made(t, 1)
	half := len(data) / 2
	if _, err := s.Resume(piece(data, 0, half, "b")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resume(piece(other, 0, 5, "")); err != nil {
		t.Fatal(err)
	}
	in, out := io.Pipe()
	killed := make(chan error)
	go func() {
		_, u := piece(data, half, len(data), "b")
		_, err := s.Resume(in, u)
		killed <- err
	}()
	if _, err := out.Write(data[half : half+7]); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(nil); err != nil { // what it wrote before is in the file when it reads again
		t.Fatal(err)
	}
	if _, err := s.Resume(piece(data, half, len(data), "b")); !errors.Is(err, ErrBusy) {
		t.Errorf("two at once: %v", err)
	}
	// What is on the disk now is what a process leaves that is killed now. One that was
	// killed between the name of a recording and the end of its upload leaves both.
	left := t.TempDir()
	for _, name := range names(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(left, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out.CloseWithError(io.ErrUnexpectedEOF)
	if err := <-killed; !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	for name, content := range map[string][]byte{idOf(other) + recordingEnd: other, partBegin + "mine": []byte("not ours")} {
		if err := os.WriteFile(filepath.Join(left, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = opened(t, left, Options{}, nil)
	if p := s.Offset("", idOf(other)); p.Run == nil {
		t.Errorf("Offset() of one that had its name = %d bytes and no run, want one", p.Have)
	}
	p := s.Offset("b", idOf(data))
	if p.Have != int64(half)+7 {
		t.Fatalf("%+v, want %d", p, half+7)
	}
	p, err := s.Resume(piece(data, int(p.Have), len(data), "b"))
	if err != nil || p.Run == nil {
		t.Fatalf("Resume() of the rest = %d bytes, run %+v, %v, want a run", p.Have, p.Run, err)
	}
	s.Close()
	if got := names(t, left); len(got) != 5 { // two runs and what is not ours
		t.Errorf("left: %v", got)
	}
}

// TestParts holds that uploads that nobody goes on with go: by age, and the oldest when
// there is no room.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	var all [][]byte
	for i := range 4 {
		all = append(all, made(t, i))
	}
	n := int64(len(all[0]))
	s := opened(t, dir, Options{Most: n + 10, Parts: 2*n + 20}, nil)
	clock := time.Now()
	set := func(d time.Duration) {
		s.mu.Lock()
		defer s.mu.Unlock()
		clock = clock.Add(d)
		now := clock
		s.now = func() time.Time { return now }
	}
	half := int(n / 2)
	for _, data := range all[:3] { // three halves are more than two wholes when one is to be whole
		set(time.Minute)
		if _, err := s.Resume(piece(data, 0, half, "")); err != nil {
			t.Fatal(err)
		}
	}
	set(time.Minute)
	if _, err := s.Resume(piece(all[3], 0, half, "")); err != nil {
		t.Fatal(err)
	}
	for i, data := range all {
		want := int64(half)
		if i < 1 {
			want = 0
		}
		if p := s.Offset("", idOf(data)); p.Have != want {
			t.Errorf("%d: %+v, want %d", i, p, want)
		}
	}
	// While one is sent it is not dropped, and its room is taken.
	var in [2]*io.PipeReader
	var out [2]*io.PipeWriter
	ended := make(chan error, 2)
	for i := range in {
		in[i], out[i] = io.Pipe()
		go func() {
			_, u := piece(all[i+1], half, len(all[i+1]), "")
			_, err := s.Resume(in[i], u)
			ended <- err
		}()
		if _, err := out[i].Write(all[i+1][half : half+1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Resume(piece(all[0], 0, half, "")); !errors.Is(err, ErrFull) {
		t.Errorf("a third: %v", err)
	}
	for i := range out {
		out[i].Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	set(partAge + time.Second)
	s.sweep()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

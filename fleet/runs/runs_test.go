package runs

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// made returns a recording of a program at a minute after began.
func made(t testing.TB, minute int, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	s := recording.NewStream(&b)
	start := began.Add(time.Duration(minute) * time.Minute)
	for _, m := range append(members, "note.txt") {
		if err := s.Add(m, []byte("path\texample.com/shop\nmod\texample.com/shop\tv1.2.3\n")); err != nil {
			t.Fatal(err)
		}
	}
	m := recording.Manifest{Schema: recording.Schema, Start: start, End: start.Add(10 * time.Second), Go: "go1.26.1",
		Command: []string{"/srv/shop", "-x"}, Event: &recording.Event{Kind: "task", Task: "checkout"}}
	if err := s.Finish(m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// opened returns a store whose diagnosis finds what the test says, or waits.
func opened(t testing.TB, dir string, o Options, found func(context.Context, string) (api.Diagnosis, error)) *Store {
	t.Helper()
	if found == nil {
		found = func(ctx context.Context, _ string) (api.Diagnosis, error) {
			<-ctx.Done()
			return api.Diagnosis{}, ctx.Err()
		}
	}
	s := &Store{dir: dir, options: o, now: time.Now, diagnose: found}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t testing.TB, s *Store, data []byte, about api.Recording) api.Recording {
	t.Helper()
	r, old, err := s.Add(bytes.NewReader(data), about)
	if err != nil || old {
		t.Fatalf("old %v, %v", old, err)
	}
	return r
}

// A recording of a program that the kernel killed says so, whatever it was made for.
func TestKilled(t *testing.T) {
	for kind, want := range map[string]string{recording.EndedByMemory: "killed for want of memory", recording.EndedByExit: "memory"} {
		var b bytes.Buffer
		w := recording.NewStream(&b)
		if err := w.Add("note.txt", []byte("note")); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(recording.Manifest{Schema: recording.Schema, Start: began, End: began.Add(time.Second),
			Event: &recording.Event{Kind: "memory"}, Ended: &recording.Ending{Kind: kind, Time: began.Add(12 * time.Second), Of: "memory.max", Limit: 256 << 20}}); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		s := opened(t, dir, Options{}, nil)
		r := add(t, s, b.Bytes(), api.Recording{Service: "shop"})
		if k := r.Killed; r.Event != want || (k != nil) != (kind == recording.EndedByMemory) {
			t.Errorf("ended by %s: %q, killed %+v, want %q", kind, r.Event, k, want)
		} else if k != nil && (!k.At.Equal(began.Add(12*time.Second)) || k.Of != "memory.max" || k.Limit != 256<<20 || k.Age == nil || *k.Age != 11*time.Second) {
			t.Errorf("killed %+v, want 11 s after the evidence by 256 MiB", k)
		}
		s.Close()
		if kept, _ := opened(t, dir, Options{}, nil).List(Filter{}, 1); len(kept) != 1 || !reflect.DeepEqual(kept[0].Killed, r.Killed) {
			t.Errorf("opened again: %+v, want killed %+v", kept, r.Killed)
		}
	}
}

func TestAdd(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, Options{}, nil)
	data := made(t, 0, recording.BuildMember)
	r := add(t, s, data, api.Recording{})
	want := api.Recording{ID: r.ID, Service: "shop", Version: "v1.2.3", Go: "go1.26.1", Start: began, Duration: 10 * time.Second,
		Event: "task checkout", Kept: r.Kept, Bytes: int64(len(data)), Diagnosis: api.Diagnosis{State: api.Waiting}}
	if r.ID == "" || r.Diagnosis.State != want.Diagnosis.State || r.Service != want.Service || r.Version != want.Version ||
		r.Go != want.Go || !r.Start.Equal(want.Start) || r.Duration != want.Duration || r.Event != want.Event || r.Bytes != want.Bytes {
		t.Errorf("%+v, want %+v", r, want)
	}
	if again, old, err := s.Add(bytes.NewReader(data), api.Recording{Service: "other"}); err != nil || !old || again.Service != "shop" {
		t.Errorf("Add() again = service %q, old %v, %v, want shop, true", again.Service, old, err)
	}
	other := add(t, s, data, api.Recording{Tenant: "b", Service: "cart", Version: "v9", Instance: "h1"})
	if other.Service != "cart" || other.Version != "v9" || other.Instance != "h1" || other.ID != r.ID {
		t.Errorf("another tenant's: %.12s of %q, version %q, instance %q, want %.12s of cart, v9, h1",
			other.ID, other.Service, other.Version, other.Instance, r.ID)
	}
	for tenant, n := range map[string]int{"": 1, "b": 1, "c": 0} {
		if list, _ := s.List(Filter{Tenant: tenant}, 10); len(list) != n {
			t.Errorf("tenant %q has %d", tenant, len(list))
		}
	}
	f, _, err := s.File("", r.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
	}
	if _, _, err := s.File("c", r.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("of another tenant: %v", err)
	}
}

func TestList(t *testing.T) {
	s := opened(t, t.TempDir(), Options{}, nil)
	for i, service := range []string{"a", "b", "a"} {
		add(t, s, made(t, i), api.Recording{Service: service, Version: "v" + service})
	}
	for _, c := range []struct {
		f    Filter
		n    int
		want []int // minutes
		more int
	}{
		{Filter{}, 10, []int{2, 1, 0}, 0},
		{Filter{}, 2, []int{2, 1}, 1},
		{Filter{Service: "a"}, 10, []int{2, 0}, 0},
		{Filter{Version: "vb"}, 10, []int{1}, 0},
		{Filter{From: began.Add(time.Minute), Until: began.Add(2 * time.Minute)}, 10, []int{1}, 0},
	} {
		list, more := s.List(c.f, c.n)
		var got []int
		for _, r := range list {
			got = append(got, int(r.Start.Sub(began).Minutes()))
		}
		if len(got) != len(c.want) || more != c.more {
			t.Errorf("%+v: %v and %d more, want %v and %d", c.f, got, more, c.want, c.more)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%+v: %v, want %v", c.f, got, c.want)
			}
		}
	}
}

// TestRefused holds that what is no recording leaves nothing behind.
func TestRefused(t *testing.T) {
	packed := func() []byte { // 64 MiB of zeros in 64 KiB
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.Create(recording.TraceMember)
		w.Write(make([]byte, 64<<20))
		m, _ := z.CreateHeader(&zip.FileHeader{Name: recording.ManifestMember, Method: zip.Store})
		io.WriteString(m, `{"schema":1}`)
		z.Close()
		return b.Bytes()
	}
	noManifest := func() []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, _ := z.CreateHeader(&zip.FileHeader{Name: "a", Method: zip.Store})
		io.WriteString(w, "a")
		z.Close()
		return b.Bytes()
	}
	whole := made(t, 0)
	late := func() []byte { // in UTC it is the year 10000
		var b bytes.Buffer
		w := recording.NewStream(&b)
		if err := errors.Join(w.Add("note.txt", []byte("note")), w.Finish(recording.Manifest{Schema: recording.Schema,
			Start: time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -12*3600))})); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	dir := t.TempDir()
	s := opened(t, dir, Options{Most: 1 << 20}, nil)
	for _, c := range []struct {
		name string
		in   io.Reader
		want error
	}{
		{"nothing", strings.NewReader(""), ErrFormat},
		{"text", strings.NewReader("hello"), ErrFormat},
		{"bomb", bytes.NewReader(packed()), ErrFormat},
		{"no manifest", bytes.NewReader(noManifest()), ErrFormat},
		{"a year that JSON has not", bytes.NewReader(late()), ErrFormat},
		{"cut", bytes.NewReader(whole[:len(whole)-30]), ErrFormat},
		{"long", io.LimitReader(zeros{}, 2<<20), ErrLong},
		{"torn off", io.MultiReader(bytes.NewReader(whole[:10]), iotest.ErrReader(io.ErrUnexpectedEOF)), io.ErrUnexpectedEOF},
	} {
		if _, _, err := s.Add(c.in, api.Recording{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, _, err := s.Add(bytes.NewReader(whole), api.Recording{Service: "\x1b[2J"}); !errors.Is(err, ErrFormat) {
		t.Errorf("a name for the terminal: %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Two at once send the same: it is kept once.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, Options{}, nil)
	data := made(t, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh := 0
	for range 8 {
		wg.Go(func() {
			_, old, err := s.Add(bytes.NewReader(data), api.Recording{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if !old {
				fresh++
			}
		})
	}
	wg.Wait()
	s.Close() // which waits for the diagnosis to be written
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); fresh != 1 || len(files) != 2 {
		t.Errorf("%d were new, files: %v", fresh, files)
	}
}

func TestBounds(t *testing.T) {
	data := made(t, 0)
	s := opened(t, t.TempDir(), Options{Most: int64(len(data)) + 10, Total: 2*int64(len(data)) + 10, Keep: time.Hour}, nil)
	clock := began
	s.mu.Lock()
	s.now = func() time.Time { return clock }
	s.mu.Unlock()
	var ids []string
	for i := range 3 {
		ids = append(ids, add(t, s, made(t, i), api.Recording{}).ID)
		s.mu.Lock()
		clock = clock.Add(time.Minute)
		s.mu.Unlock()
	}
	if _, _, err := s.File("", ids[0]); !errors.Is(err, ErrUnknown) {
		t.Errorf("the oldest is not dropped for a new one: %v", err)
	}
	if list, _ := s.List(Filter{}, 10); len(list) != 2 {
		t.Errorf("%d are kept, want 2", len(list))
	}
	s.mu.Lock()
	clock = began.Add(61*time.Minute + 30*time.Second) // the second is older than an hour then
	s.mu.Unlock()
	s.sweep()
	if list, _ := s.List(Filter{}, 10); len(list) != 1 || list[0].ID != ids[2] {
		t.Errorf("after the time to keep: List() = %+v, want %.12s alone", list, ids[2])
	}
}

// TestCrash opens what a process left that ended at each of its steps.
func TestCrash(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, Options{}, nil)
	kept := add(t, s, made(t, 0), api.Recording{Service: "cart"})
	s.Close()
	lost := add(t, opened(t, t.TempDir(), Options{}, nil), made(t, 1), api.Recording{}).ID
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(unfinished+"1", made(t, 1)[:20])       // while it was received
	write(lost+sidecarEnd, []byte(`{"id":"x"}`)) // before the recording got its name
	write("README", []byte("not ours"))
	s = opened(t, dir, Options{}, nil)
	list, _ := s.List(Filter{}, 10)
	if len(list) != 1 || list[0].ID != kept.ID || list[0].Service != "cart" {
		t.Errorf("after the crash: List() = %+v, want %.12s of cart alone", list, kept.ID)
	}
	s.Close() // which waits for the diagnosis to be written
	if left, _ := os.ReadDir(dir); len(left) != 3 {
		t.Errorf("left: %v", left)
	}

	write(kept.ID+sidecarEnd, []byte("{")) // no longer what it was: found out again
	s = opened(t, dir, Options{}, nil)
	if list, _ = s.List(Filter{}, 10); len(list) != 1 || list[0].Service != "shop" || list[0].ID != kept.ID {
		t.Errorf("without the sidecar: List() = %+v, want %.12s of shop alone", list, kept.ID)
	}
}

// states are those of the only run, until one is wanted.
func await(t testing.TB, s *Store, want api.DiagnosisState) api.Recording {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if list, _ := s.List(Filter{}, 1); len(list) == 1 && list[0].Diagnosis.State == want {
			return list[0]
		}
	}
	list, _ := s.List(Filter{}, 1)
	t.Fatalf("after a minute List() = %+v, want one that is %s", list, want)
	return api.Recording{}
}

func TestDiagnosis(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, Options{}, func(context.Context, string) (api.Diagnosis, error) {
		return api.Diagnosis{State: api.Done, Findings: []api.RecordingFinding{{Rule: "hotmutex"}}}, nil
	})
	add(t, s, made(t, 0), api.Recording{})
	await(t, s, api.Done)
	s.Close()
	s = opened(t, dir, Options{}, func(context.Context, string) (api.Diagnosis, error) {
		t.Error("it is diagnosed twice")
		return api.Diagnosis{}, nil
	})
	if r := await(t, s, api.Done); r.Diagnosis.Findings[0].Rule != "hotmutex" {
		t.Errorf("the findings are %+v, want hotmutex first", r.Diagnosis.Findings)
	}

	s = opened(t, t.TempDir(), Options{}, func(_ context.Context, file string) (api.Diagnosis, error) { panic(file) })
	add(t, s, made(t, 0), api.Recording{})
	if r := await(t, s, api.Failed); strings.ContainsAny(r.Diagnosis.Why, `"/`) || !strings.Contains(r.Diagnosis.Why, "the recording") {
		t.Errorf("why: %q", r.Diagnosis.Why)
	}
}

// A store that is closed in the middle diagnoses again; a process that always ends does
// not go on for ever.
func TestDiagnosisAgain(t *testing.T) {
	dir := t.TempDir()
	begun := make(chan struct{}, 1)
	wait := func(ctx context.Context, _ string) (api.Diagnosis, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return api.Diagnosis{}, ctx.Err()
	}
	s := opened(t, dir, Options{}, wait)
	r := add(t, s, made(t, 0), api.Recording{})
	for range 3 {
		<-begun
		s.Close()
		s = opened(t, dir, Options{}, wait)
	}
	<-begun
	s.Close()
	for try := 1; ; try++ { // killed: nobody takes the count back
		got, ok := readSidecar(s.sidecar(&r))
		if !ok || try > mostTries+1 {
			t.Fatalf("try %d: readSidecar() = %+v, %v, want it there, and failed after %d tries",
				try, got.Diagnosis, ok, mostTries+1)
		}
		if got.Diagnosis.Tries = try; s.save(&got) != nil {
			t.Fatal("cannot save")
		}
		s = opened(t, dir, Options{}, nil)
		list, _ := s.List(Filter{}, 1)
		if list[0].Diagnosis.State == api.Failed {
			break
		}
		s.Close()
	}
}

// TestEngine has the engine itself look at a recording in which is nothing.
func TestEngine(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add(t, s, made(t, 0, recording.BuildMember), api.Recording{})
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if list, _ := s.List(Filter{}, 1); list[0].Diagnosis.State != api.Waiting {
			if d := list[0].Diagnosis; d.State == api.Failed && d.Why == "" || d.State == api.Done && d.Verdict == "" {
				t.Errorf("a diagnosis that is %s has why %q, verdict %q, want why if failed, a verdict if done",
					d.State, d.Why, d.Verdict)
			}
			return
		}
	}
	t.Error("it waits for ever")
}

// TestHeld has a recording with two looks: those that grew most are among the holders, however little
// they hold.
func TestHeld(t *testing.T) {
	look := func(at time.Duration, grown uint64) *model.HeapLook {
		l := &model.HeapLook{Time: began.Add(at)}
		for i, name := range []string{"main.a", "main.b", "main.c", "main.d", "main.e", "main.f", strings.Repeat("x", 2*mostName)} {
			l.Holders = append(l.Holders, model.Holder{Kind: model.HeldByVariable, Name: name, ObjectSum: model.ObjectSum{Objects: 1, Bytes: uint64(100-i) << 20}})
		}
		// Nobody asks for what holds as little as this.
		l.Holders = append(l.Holders, model.Holder{Kind: model.HeldByRuntime, Name: "runtime.allm", ObjectSum: model.ObjectSum{Objects: 1, Bytes: 1<<10 + grown/100}})
		l.Reached = model.ObjectSum{Objects: 17, Bytes: 200 << 20}
		l.Holders = append(l.Holders, model.Holder{Kind: model.HeldByGoroutines, Name: "main.leak", Count: 3, ObjectSum: model.ObjectSum{Objects: 9, Bytes: 1<<20 + grown}})
		return l
	}
	var looks artifact.HeapLooks
	looks.Add(look(0, 0))
	looks.Add(look(5*time.Second, 1<<20))
	var b bytes.Buffer
	w := recording.NewStream(&b)
	if err := w.Add(recording.HoldersMember, looks.JSON()); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(recording.Manifest{Schema: recording.Schema, Start: began, End: began.Add(5 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.gowhy")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Diagnose(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range d.Held {
		got = append(got, fmt.Sprintf("%s %s %d %d", h.Kind, h.Way, h.Bytes>>20, *h.Grew>>20))
	}
	want := []string{"global main.a 100 0", "global main.b 99 0", "global main.c 98 0", "global main.d 97 0", "goroutines 3 goroutines in main.leak 2 1"}
	if !slices.Equal(got, want) {
		t.Errorf("Diagnose().Held = %q, want %q", got, want)
	}
}

// FuzzAdd holds that whatever is sent is kept whole or refused, and leaves nothing.
func FuzzAdd(f *testing.F) {
	whole := made(f, 0, recording.BuildMember)
	for _, n := range []int{len(whole), len(whole) - 1, len(whole) / 2, 4, 0} {
		f.Add(whole[:n])
	}
	dir := f.TempDir()
	s := opened(f, dir, Options{Most: 1 << 16}, nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _, err := s.Add(bytes.NewReader(data), api.Recording{})
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrLong) {
				t.Error(err)
			}
			return
		}
		file, _, err := s.File("", r.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, data) || !Plain(r.Service) {
			t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
		}
	})
}

// TestLatest holds which recording of a version is the newest, by the server's clock, and
// which one shows a finding.
func TestLatest(t *testing.T) {
	s := opened(t, t.TempDir(), Options{}, func(_ context.Context, file string) (api.Diagnosis, error) {
		return api.Diagnosis{State: api.Done, Findings: []api.RecordingFinding{{Rule: "gccost", Remark: true}, {Rule: "hotmutex", Where: filepath.Base(file)}}}, nil
	})
	clock := began.Add(time.Hour)
	s.mu.Lock()
	s.now = func() time.Time { return clock }
	s.mu.Unlock()
	shop := Subject{Service: "shop", Version: "v1"}
	pushed := add(t, s, made(t, 30), api.Recording{Service: "shop", Version: "v1"})
	behind := add(t, s, made(t, -600), api.Recording{Service: "shop", Version: "v1", Why: "no recording yet"}) // the clock of its host
	ahead := add(t, s, made(t, 600), api.Recording{Service: "shop", Version: "v1"})
	add(t, s, made(t, 0), api.Recording{Service: "shop", Version: "v1", Tenant: "b"})
	v2 := add(t, s, made(t, 20), api.Recording{Service: "shop", Version: "v2"})
	for id, want := range map[string]time.Time{pushed.ID: began.Add(30 * time.Minute), behind.ID: clock.Add(-10 * time.Second), ahead.ID: clock.Add(-10 * time.Second)} {
		list := s.Latest(shop, 10)
		at := slices.IndexFunc(list, func(r api.Recording) bool { return r.ID == id })
		if len(list) != 3 || at < 0 || !list[at].Began().Equal(want) {
			t.Errorf("%d runs, that at %d does not begin at %v", len(list), at, want)
		}
	}
	if list := s.Latest(shop, 2); len(list) != 2 || list[0].ID == pushed.ID || list[1].ID == pushed.ID {
		t.Errorf("Latest(shop, 2) = %+v, want two without %.12s", list, pushed.ID)
	}
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		list, _ := s.List(Filter{}, 10)
		if !slices.ContainsFunc(list, func(r api.Recording) bool { return r.Diagnosis.State != api.Done }) {
			break
		}
	}
	for _, c := range []struct {
		rule     string
		versions []string
		want     string // the ID
	}{
		{"hotmutex", []string{"v2"}, v2.ID},
		{"hotmutex", []string{"v3"}, ""},
		{"hotmutex", []string{"v2", "v1"}, s.Latest(shop, 1)[0].ID},
		{"gccost", []string{"v1", "v2"}, ""}, // it is only a remark
	} {
		r, f := s.Showing("", "shop", c.versions, c.rule)
		if r.ID != c.want || (f != nil) != (c.want != "") || f != nil && f.Where == "" {
			t.Errorf("%s of %v: %.12s, %+v, want %.12s", c.rule, c.versions, r.ID, f, c.want)
		}
	}
	s.mu.Lock()
	for _, id := range []string{pushed.ID, behind.ID, ahead.ID} {
		s.drop(s.runs[key{"", id}])
	}
	s.mu.Unlock()
	if list := s.Latest(shop, 10); len(list) != 0 {
		t.Errorf("after all are dropped: Latest(shop, 10) = %+v, want none", list)
	}
}

// TestCount has somebody send recordings that are tiny: the oldest go, however few bytes they have.
func TestCount(t *testing.T) {
	s := opened(t, t.TempDir(), Options{Count: 3}, nil)
	var last string
	for i := range 10 {
		last = add(t, s, made(t, i), api.Recording{}).ID
	}
	list, more := s.List(Filter{}, 2)
	if len(list) != 2 || more != 1 || list[0].ID != last {
		t.Errorf("List(2) of three = %+v and %d more, want two, %.12s first, and 1 more", list, more, last)
	}
}

// TestTurns has a tenant send many recordings before another sends one: that is not the last.
func TestTurns(t *testing.T) {
	begun, next := make(chan string), make(chan bool)
	s := opened(t, t.TempDir(), Options{}, func(ctx context.Context, file string) (api.Diagnosis, error) {
		tenant := ""
		for _, of := range []string{"a", "b"} {
			if strings.HasPrefix(filepath.Base(file), stem(&api.Recording{Tenant: of, ID: filepath.Base(file)[:64]})) {
				tenant = of
			}
		}
		select {
		case begun <- tenant:
		case <-ctx.Done():
		}
		select {
		case <-next:
		case <-ctx.Done():
		}
		return api.Diagnosis{State: api.Done}, nil
	})
	for i := range 5 {
		add(t, s, made(t, i), api.Recording{Tenant: "a"})
	}
	first := <-begun
	add(t, s, made(t, 9), api.Recording{Tenant: "b"})
	next <- true
	if second := <-begun; first != "a" || second != "b" {
		t.Errorf("first one of %s, then of %s; want a and b", first, second)
	}
}

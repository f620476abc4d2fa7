package agent

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// A fake profile is written by hand: samples as stack, value, block size and
// label. Locations are numbered as they come, from first on.
type fakeSample struct {
	stack []uint64
	value int64
	size  int64
	label string
}

func fakeProfile(first uint64, samples ...fakeSample) []byte {
	texts := []string{"", "objects", "count", "bytes", "customer"}
	text := func(s string) uint64 {
		for i, t := range texts {
			if t == s {
				return uint64(i)
			}
		}
		texts = append(texts, s)
		return uint64(len(texts) - 1)
	}
	out := appendBytes(nil, profileSampleType, appendNumber(appendNumber(nil, 1, text("objects")), 2, text("count")))
	id := map[uint64]uint64{}
	for _, s := range samples {
		var b []byte
		for _, at := range s.stack {
			if id[at] == 0 {
				id[at] = first + uint64(len(id))
				out = appendBytes(out, profileLocation, appendNumber(appendNumber(nil, locationID, id[at]), locationAddr, at))
			}
			b = appendNumber(b, sampleLocation, id[at])
		}
		b = appendNumber(b, sampleValue, uint64(s.value))
		if s.size > 0 {
			b = appendBytes(b, sampleLabel, appendNumber(appendNumber(nil, labelKey, text("bytes")), labelNumber, uint64(s.size)))
		}
		if s.label != "" {
			b = appendBytes(b, sampleLabel, appendNumber(appendNumber(nil, labelKey, text("customer")), labelString, text(s.label)))
		}
		out = appendBytes(out, profileSample, b)
	}
	for _, t := range texts {
		out = appendBytes(out, profileString, []byte(t))
	}
	return out
}

// counts returns what a profile counts, by stack, as a tally knows them.
func counts(t *testing.T, profile []byte) map[string]int64 {
	t.Helper()
	tally, err := tallyOf(profile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for key, c := range tally.counts {
		out[key] = c.values[0]
	}
	return out
}

func TestSince(t *testing.T) {
	a, b, c := []uint64{0x10, 0x20}, []uint64{0x10, 0x30}, []uint64{0x40}
	before := fakeProfile(1, fakeSample{stack: a, value: 5}, fakeSample{stack: b, value: 7, size: 16}, fakeSample{stack: b, value: 2, size: 32})
	after := fakeProfile(50, fakeSample{stack: c, value: 3}, fakeSample{stack: b, value: 9, size: 32}, fakeSample{stack: b, value: 7, size: 16},
		fakeSample{stack: a, value: 4}, fakeSample{stack: a, value: 4})
	tally, err := tallyOf(before)
	if err != nil {
		t.Fatal(err)
	}
	got, err := profileSince(tally, after, 1234, 5678, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := counts(t, fakeProfile(50, fakeSample{stack: c, value: 3}, fakeSample{stack: b, value: 7, size: 32}, fakeSample{stack: a, value: 3}))
	have := counts(t, got)
	if len(have) != len(want) {
		t.Errorf("%d stacks, want %d", len(have), len(want))
	}
	for key, v := range want {
		if have[key] != v {
			t.Errorf("sample of %x = %d, want %d", key, have[key], v)
		}
	}
	numbers := map[int]uint64{}
	fields(got, func(x field) error {
		numbers[x.num] = x.value
		return nil
	})
	if numbers[profileTime] != 1234 || numbers[profileDuration] != 5678 {
		t.Errorf("time %d, duration %d; want 1234 and 5678", numbers[profileTime], numbers[profileDuration])
	}
}

func TestImpossibleDelays(t *testing.T) {
	after := fakeProfile(1, fakeSample{stack: []uint64{1}, value: 100}, fakeSample{stack: []uint64{2}, value: 1000})
	got, err := profileSince(&tally{}, after, 1, 1, func(v []int64) bool { return v[0] < 500 })
	if have := counts(t, got); err != nil || len(have) != 1 {
		t.Errorf("since() = %v, %v; want one sample, the other is impossible", have, err)
	}
	m := &mutex{delta: delta{goroutines: 10}, fraction: 10}
	if m.possible([]int64{10, int64(time.Hour)}, time.Second) || !m.possible([]int64{10, int64(90 * time.Second)}, time.Second) || m.dropped != 1 {
		t.Errorf("an hour of ten goroutines in a second; %d left out", m.dropped)
	}
	if m.note() == "" || (&mutex{}).note() != "" {
		t.Error("what was left out must be told, and nothing else")
	}
	if m.recorded != 90*time.Second {
		t.Errorf("recorded %v, want 1m30s", m.recorded)
	}
	for m, told := range map[*mutex]bool{
		{ownsFraction: true, waited: time.Second}:                                 true,
		{ownsFraction: true, waited: time.Second, recorded: time.Second / 5}:      false,
		{ownsFraction: true, waited: unrecorded / 2}:                              false,
		{waited: time.Second}:                                                     false, // the program's own fraction
		{ownsFraction: true, waited: 2 * time.Second, recorded: time.Second / 10}: true,
	} {
		if (m.note() != "") != told {
			t.Errorf("note of %v waited, %v recorded = %q, want one: %v", m.waited, m.recorded, m.note(), told)
		}
	}
}

func TestWithoutLabels(t *testing.T) {
	// "objects" is both a label and a column's name: the name stays.
	p := fakeProfile(1, fakeSample{stack: []uint64{1}, value: 1, label: "secret"}, fakeSample{stack: []uint64{1}, value: 2, size: 64, label: "objects"})
	texts := func(p []byte) (n uint64) {
		fields(p, func(x field) error {
			if x.num == profileString {
				n++
			}
			return nil
		})
		return n
	}
	n := texts(p)
	p = appendBytes(p, profileMapping, appendNumber(appendNumber(nil, 5, n), 6, n+1))
	p = appendBytes(p, profileFunction, appendNumber(appendNumber(appendNumber(nil, 2, n+2), 3, n+3), 4, n+4))
	kept := []string{"/bin/program", "buildid", "main.main", "main·main", "main.go"}
	for _, text := range kept {
		p = appendBytes(p, profileString, []byte(text))
	}
	got, err := withoutLabels(p)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(got, []byte("secret")) || bytes.Contains(got, []byte("customer")) ||
		!bytes.Contains(got, []byte("objects")) || !bytes.Contains(got, []byte("bytes")) {
		t.Errorf("withoutLabels() = %q, want the types without the labels", got)
	}
	if want := counts(t, p); len(want) != len(counts(t, got)) {
		t.Errorf("samples became %v, want %v", counts(t, got), want)
	}
	if texts(p) != texts(got) {
		t.Error("texts have other numbers now")
	}
	for _, text := range kept {
		if !bytes.Contains(got, []byte(text)) {
			t.Errorf("%q is lost", text)
		}
	}
}

// What was rewritten opens in the tool that owns the format.
func TestPprofReadsWhatWasRewritten(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	body := during(t, server(t), "record?d=1m&redact=1&gc=1&sources=cpu,allocs,block", work(t))
	_, content := open(t, body)
	for _, name := range []string{recording.CPUMember, recording.AllocsMember, recording.BlockMember} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, content[name], 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(goTool, "tool", "pprof", "-top", file).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "agent.work") {
			t.Errorf("go tool pprof -top %s: %v\n%s\nwant agent.work", name, err, out)
		}
	}
}

func FuzzProfile(f *testing.F) {
	f.Add(fakeProfile(1, fakeSample{stack: []uint64{1, 2}, value: 5, size: 16, label: "x"}))
	f.Add(fakeProfile(1))
	if file, err := snapshot("threadcreate", false); err == nil {
		raw, _ := unpack(file)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if tally, err := tallyOf(b); err == nil {
			out, err := profileSince(tally, b, 1, 2, nil)
			if err != nil {
				t.Fatal("a profile of which there is a tally:", err)
			}
			if left, err := tallyOf(out); err != nil || len(left.counts) > 0 {
				t.Fatalf("a profile has %d stacks more than itself, %v", len(left.counts), err)
			}
		}
		if out, err := withoutLabels(b); err == nil {
			if _, err := withoutLabels(out); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkTally(b *testing.B) {
	file, err := snapshot("allocs", false)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := unpack(file)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(raw)))
	for i := 0; i < b.N; i++ {
		if _, err := tallyOf(raw); err != nil {
			b.Fatal(err)
		}
	}
}

package embedded

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// writeLog returns a log of the suite's batches, one in each group, and where each group ends.
func writeLog(t testing.TB, number int) (path string, ends []int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "1.log")
	j, err := createJournal(osDisk{}, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range storetest.Batches()[:number] {
		if err := j.append(payloadOf(b)); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, j.size)
	}
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	return path, ends
}

func payloadOf(b *store.Batch) []byte {
	return appendText(make([]byte, headerSize), string(encode(nil, b, func(store.StackID) bool { return false })))
}

func TestEncoding(t *testing.T) {
	for _, b := range storetest.Batches() {
		got, err := decode(encode(nil, b, func(store.StackID) bool { return false }))
		if err != nil {
			t.Fatal(err)
		}
		if got.id != b.ID || got.from != b.From.UnixMilli() || got.until != b.Until.UnixMilli() {
			t.Errorf("batch %x has other times or another ID", b.ID)
		}
		if !got.valid() || !slices.EqualFunc(profilesOf(got), b.Profiles, func(a, b store.Profile) bool {
			return a.Type == b.Type && slices.Equal(a.Samples, b.Samples)
		}) {
			t.Errorf("batch %x has other profiles", b.ID)
		}
		if len(b.Source.Labels) > 0 && !reflect.DeepEqual(*got.source, b.Source) {
			t.Errorf("batch %x has another source", b.ID)
		}
		stacks := map[store.StackID][]*store.Frame{}
		decoded := frameLists{}
		for id, stack := range got.newStacks() {
			if stacks[id], err = decoded.stack(stack); err != nil {
				t.Errorf("batch %x: frames of stack %d: %v", b.ID, id, err)
			}
		}
		for id, frames := range b.Stacks {
			if len(frames) > 0 && !reflect.DeepEqual(stacks[id], frames) {
				t.Errorf("batch %x has other frames of stack %d", b.ID, id)
			}
		}
	}
}

func profilesOf(b *batch) []store.Profile {
	var all []store.Profile
	for p := range b.each() {
		made := store.Profile{Type: store.Type(p.kind)}
		p.samples(func(stack, value int64) {
			made.Samples = append(made.Samples, store.Sample{Stack: store.StackID(stack), Value: value})
		})
		all = append(all, made)
	}
	return all
}

// A log cut at any byte gives the groups before the cut, and no error: a crash does that.
// In a file that is not the last it is damage.
func TestLogCutAnywhere(t *testing.T) {
	path, ends := writeLog(t, 30)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	cuts := []int64{0, 3, int64(len(logMagic))}
	for _, end := range ends {
		cuts = append(cuts, end-1, end, min(end+1, int64(len(data))), r.Int64N(int64(len(data))))
	}
	for _, cut := range cuts {
		for name, tail := range map[string][]byte{"": nil, " and zeros": make([]byte, 5000)} {
			if err := os.WriteFile(path, append(data[:cut:cut], tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			want, whole := 0, int64(0)
			for _, end := range ends {
				if end <= cut {
					want, whole = want+1, end
				}
			}
			if cut < int64(len(logMagic)) {
				continue // TestOpenAfterCrash has it
			}
			got := 0
			size, err := replay(path, true, func(*batch) { got++ })
			if err != nil || got != want || size != max(whole, int64(len(logMagic))) {
				t.Errorf("cut at %d%s: %d batches in %d bytes, %v, want %d in %d", cut, name, got, size, err, want, whole)
			}
			torn := whole != cut && cut != int64(len(logMagic)) || tail != nil
			_, err = replay(path, false, func(*batch) {})
			if isDamage := errors.As(err, new(*damage)); isDamage != torn {
				t.Errorf("cut at %d%s, not the last: %v, want damage: %v", cut, name, err, torn)
			}
		}
	}
}

// A byte that differs anywhere before the last group is damage and its group is named.
func TestLogDamage(t *testing.T) {
	path, ends := writeLog(t, 10)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		at := r.Int64N(ends[len(ends)-2])
		begin := int64(len(logMagic))
		for _, end := range ends {
			if end <= at {
				begin = end
			}
		}
		if at < int64(len(logMagic)) {
			begin = 0
		}
		changed := bytes.Clone(data)
		changed[at] ^= byte(1 + r.IntN(255))
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := replay(path, true, func(*batch) {})
		var d *damage
		if !errors.As(err, &d) || d.path != path || d.offset != begin {
			t.Errorf("byte %d differs: %v, want damage at %d", at, err, begin)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range storetest.Batches()[:20] {
		f.Add(encode(nil, b, func(store.StackID) bool { return false }))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decode(data)
		if err != nil || !b.valid() {
			return
		}
		profilesOf(b)
		if b.bytes() > 200*int64(len(data))+1000 {
			t.Errorf("%d bytes became %d", len(data), b.bytes())
		}
	})
}

func FuzzReplay(f *testing.F) {
	f.Add([]byte(logMagic))
	for _, b := range storetest.Batches()[:5] {
		payload := payloadOf(b)
		putHeader(payload)
		f.Add(append([]byte(logMagic), payload...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		size, err := replayBytes("1.log", data, true, func(*batch) {})
		if err == nil && size > int64(len(data)) {
			t.Errorf("%d bytes of %d are whole", size, len(data))
		}
	})
}

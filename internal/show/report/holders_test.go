package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/know/model"
)

// heldLook returns a heap of 100 MiB.
func heldLook() *model.HeapLook {
	return &model.HeapLook{
		Time: time.Unix(1800000000, 0), Took: 30 * time.Millisecond, Marked: 99 << 20, Typed: true,
		Reached: model.ObjectSum{Objects: 5000, Bytes: 100 << 20}, Unreached: model.ObjectSum{Objects: 7, Bytes: 3 << 20}, Untyped: model.ObjectSum{Objects: 1, Bytes: 64},
		Types: []model.HeldType{{Name: "[]byte", ObjectSum: model.ObjectSum{Objects: 4000, Bytes: 90 << 20}, Holder: "main.cache", HolderBytes: 88 << 20}},
		Holders: []model.Holder{
			{Kind: model.HeldByVariable, Name: "main.cache", Count: 1, ObjectSum: model.ObjectSum{Objects: 4000, Bytes: 90 << 20}, OnStacks: 2 << 20, Path: []model.HolderStep{
				{Field: ".sessions", Type: "map[string]*main.Session", Retained: 90 << 20}, {Type: "main.Session", Retained: 89 << 20}, {Field: ".raw", Type: "[]byte", Retained: 89 << 20}}},
			{Kind: model.HeldByGoroutines, Name: "main.park\x1b[2J (sleep)", Count: 1200, ObjectSum: model.ObjectSum{Objects: 900, Bytes: 9 << 20}, Shared: 1 << 20, Path: []model.HolderStep{{Field: "main.park"}, {Size: 40960}}},
			{Kind: model.HeldByRuntime, Name: "runtime.allm", Count: 1, ObjectSum: model.ObjectSum{Objects: 3, Bytes: 4 << 10}},
		},
	}
}

func TestHolders(t *testing.T) {
	var b bytes.Buffer
	look := heldLook()
	look.Holders[0].Path[2].Examples = []string{"Bob", "\x1b[2J\n"}
	if err := Holders(&b, look, HoldersOptions{Options: layout.Options{Width: 80}, Top: 12}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"100 MiB in 5,000 objects, by who holds them", "90 MiB  90.0%     0 B    4,000  main.cache",
		".sessions → map[string]*main.Session → main.Session.raw → []byte", "[]byte       97.8%  main.cache", "1,200 goroutines in main.park", "→ 40960-byte objects",
		`for example "Bob", "\x1b[2J\n"`,
		"and 1 more holder of 1 MiB in all; --top 0 shows them", "(not known)", "99 MiB alive; 100 MiB were reached (+1.0%)", "3 MiB in 7 objects are allocated and reached from nowhere",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "GREW") || strings.Contains(text, "\x1b") || strings.Contains(text, "runtime.allm") {
		t.Error("a growth that nobody measured, a raw name, or a holder of nothing")
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// What is free between objects is said where it is much, and of a part nothing that only a whole look knows.
func TestHeldNotes(t *testing.T) {
	free := func(bytes uint64) []model.FreeSize {
		return []model.FreeSize{{Size: 1024, Free: bytes, Objects: 12289, Bytes: 96 << 20}}
	}
	for name, tt := range map[string]struct {
		change func(l *model.HeapLook)
		want   string // "" for none
		not    string
	}{
		"much is free":   {func(l *model.HeapLook) { l.Free = free(84 << 20) }, "84 MiB are free between 12,289 objects of 1 KiB: their 96 MiB of pages stay", ""},
		"little is free": {func(l *model.HeapLook) { l.Free = free(40 << 20) }, "", "are free between"},
		"a part":         {func(l *model.HeapLook) { l.Partial, l.PartRead = true, 0.4 }, "interrupted when 40.0% of the heap was read", "were reached"},
	} {
		t.Run(name, func(t *testing.T) {
			look := heldLook()
			tt.change(look)
			got := strings.Join(HeldNotes(look), "\n")
			if !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("HeldNotes() = %s, want %q, and not %q", got, tt.want, tt.not)
			}
		})
	}
}

// What is resident and not the heap's is said where it is the most.
func TestHoldersBeside(t *testing.T) {
	for resident, want := range map[uint64]bool{0: false, 200 << 20: false, 400 << 20: true} {
		look := heldLook()
		look.Resident = resident
		var b bytes.Buffer
		if err := Holders(&b, look, HoldersOptions{Options: layout.Options{Width: 80}, Account: "gowhy memory 42"}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "297 MiB of the 400 MiB") && strings.Contains(b.String(), "$ gowhy memory 42\n"); got != want {
			t.Errorf("of %d MiB: %v, want %v\n%s", resident>>20, got, want, b.String())
		}
	}
}

// Where much less was reached than a collection found alive, the reason is said.
func TestHoldersLess(t *testing.T) {
	for marked, want := range map[int64]bool{99 << 20: false, 104 << 20: false, 125 << 20: true} {
		look := heldLook()
		look.Marked = marked
		if got := strings.Contains(strings.Join(HeldNotes(look), "\n"), "counts as alive"); got != want {
			t.Errorf("100 MiB reached of %d MiB: %v, want %v", marked>>20, got, want)
		}
	}
}

func TestHoldersGrowth(t *testing.T) {
	before, after := heldLook(), heldLook()
	after.Time = before.Time.Add(time.Minute)
	after.Holders[1].Bytes += 5 << 20
	after.Holders[0].Bytes -= 1 << 20
	after.Since(before)
	var b bytes.Buffer
	if err := Holders(&b, after, HoldersOptions{Options: layout.Options{Width: 80}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GREW", "+5 MiB", "−1 MiB", "growth is over 60.0 s", "runtime.allm"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := Holders(&b, after, HoldersOptions{JSON: true}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Holders []struct {
			Way   string `json:"way"`
			Bytes int64  `json:"bytes"`
			Grew  *int64 `json:"grew_bytes"`
		} `json:"holders"`
		Reached struct {
			Bytes int64 `json:"bytes"`
		} `json:"reached"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Holders) != 3 || got.Holders[0].Grew == nil || *got.Holders[0].Grew != 5<<20 || got.Reached.Bytes != 100<<20 || got.Holders[2].Way != "main.cache.sessions → map[string]*main.Session → main.Session.raw → []byte" {
		t.Errorf("JSON is %s, want 3 holders, the first grown by %d, the last main.cache.sessions → …, reached %d",
			&b, 5<<20, 100<<20)
	}
}

// Who allocated the garbage is said of enough samples, and of each place that made more than a little.
func TestGarbage(t *testing.T) {
	sums := func(samples ...int) (list []model.MadeSum) {
		for i, n := range samples {
			list = append(list, model.MadeSum{Place: string(rune('a'+i)) + "\x1b[2J", Samples: n, Objects: 10, Bytes: float64(n) * (1 << 20)})
		}
		return list
	}
	for name, tt := range map[string]struct {
		garbage []model.MadeSum
		want    []string // its rows
	}{
		"nothing":              {nil, nil},
		"too few samples":      {sums(12, 7), nil},
		"two places":           {sums(15, 5), []string{"about 15 MiB  75.0%       15  a", "about 5 MiB  25.0%        5  b"}},
		"little of the second": {sums(99, 1), []string{"about 99 MiB  99.0%       99  a"}},
	} {
		t.Run(name, func(t *testing.T) {
			look := heldLook()
			look.Garbage = tt.garbage
			var b bytes.Buffer
			if err := Holders(&b, look, HoldersOptions{Options: layout.Options{Width: 80}}); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if got := strings.Contains(text, "Who allocated the garbage"); got != (len(tt.want) > 0) {
				t.Errorf("the table is there: %t, want %t", got, len(tt.want) > 0)
			}
			for _, want := range tt.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
			if strings.Count(text, "about ") != len(tt.want) || strings.Contains(text, "\x1b") {
				t.Errorf("want %d rows, and no raw names, in\n%s", len(tt.want), text)
			}
		})
	}
}

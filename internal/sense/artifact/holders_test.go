package artifact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// heldLooks returns two, a minute apart: a cache that grew, and a value that did not.
func heldLooks() (first, second *model.HeapLook) {
	use := 0.25
	look := func(at int64, cache uint64) *model.HeapLook {
		return &model.HeapLook{Time: time.Unix(at, 0).UTC(), Took: time.Second, Garbage: []model.MadeSum{{Place: "main.load", Samples: 3, Objects: 9, Bytes: 99}}, Reached: model.ObjectSum{Objects: 7, Bytes: cache + 100},
			Holders: []model.Holder{
				{Kind: model.HeldByVariable, Name: "main.cache", Count: 1, ObjectSum: model.ObjectSum{Objects: 5, Bytes: cache}, Shared: 8, Path: []model.HolderStep{{Field: ".raw", Type: "string", Use: &use, Pointers: []int{8}, Retained: cache}}},
				{Kind: model.HeldByVariable, Name: "main.value", Count: 1, ObjectSum: model.ObjectSum{Objects: 2, Bytes: 100}},
			},
			Types: []model.HeldType{{Name: "string", ObjectSum: model.ObjectSum{Objects: 5, Bytes: cache}, Holder: "main.cache", HolderBytes: cache}},
			Tree:  []model.HeldNode{{Parent: -1, Type: "main.cache"}, {Parent: 0, Field: ".raw", Type: "string", ObjectSum: model.ObjectSum{Objects: 5, Bytes: cache}}}}
	}
	return look(1800000000, 4000), look(1800000060, 9000)
}

// TestHolders: what was written is read, and the later look has by how much each grew.
func TestHolders(t *testing.T) {
	first, second := heldLooks()
	looks, err := ParseHolders(bytes.NewReader(HoldersJSON(first, second)))
	if err != nil || len(looks) != 2 {
		t.Fatalf("ParseHolders() = %d looks, %v; want 2", len(looks), err)
	}
	if got, want := looks[0].Tree, first.Tree; !slices.Equal(got, want) || looks[0].Types[0].Holder != "main.cache" || !slices.Equal(looks[0].Garbage, first.Garbage) {
		t.Errorf("the first look has the tree %+v and garbage %+v, want %+v and %+v", got, looks[0].Garbage, want, first.Garbage)
	}
	if l := looks[0]; l.Over != 0 || l.Holders[0].Grew != nil || *l.Holders[0].Path[0].Use != 0.25 || l.Took != time.Second {
		t.Errorf("the first look is %+v, want what was written, and no growth", l)
	}
	if l := looks[1]; l.Over != time.Minute || *l.Holders[0].Grew != 5000 || *l.Holders[1].Grew != 0 || *l.Types[0].Grew != 5000 {
		t.Errorf("the second look is %+v, want the growth of a minute", l)
	}
	if looks, err = ParseHolders(bytes.NewReader(HoldersJSON(first))); err != nil || len(looks) != 1 {
		t.Errorf("ParseHolders() of one look = %d, %v", len(looks), err)
	}
}

// TestHoldersCut: of many holders those with most are kept, and of one that may only have been
// left out of the first look no growth is known.
func TestHoldersCut(t *testing.T) {
	first, second := heldLooks()
	for i := range 2 * model.MaxHolders {
		first.Holders = append(first.Holders, model.Holder{Kind: model.HeldByVariable, Name: fmt.Sprint("main.v", i), ObjectSum: model.ObjectSum{Objects: 1, Bytes: 9}})
	}
	second.Holders = append(second.Holders, model.Holder{Kind: model.HeldByVariable, Name: fmt.Sprint("main.v", 2*model.MaxHolders-1), ObjectSum: model.ObjectSum{Objects: 1, Bytes: 99}})
	looks, err := ParseHolders(bytes.NewReader(HoldersJSON(first, second)))
	if err != nil || len(looks[0].Holders) != model.MaxHolders {
		t.Fatalf("%d holders, %v; want the %d with most", len(looks[0].Holders), err, model.MaxHolders)
	}
	if h := looks[1].Holders[2]; h.Grew != nil || h.Bytes != 99 {
		t.Errorf("%+v has a growth, want none", h)
	}
}

// TestHoldersBroken: what no memory can be is refused, with a reason.
func TestHoldersBroken(t *testing.T) {
	first, second := heldLooks()
	whole := string(HoldersJSON(first, second))
	change := func(from, to string) string { return strings.Replace(whole, from, to, 1) }
	for want, text := range map[string]string{
		"unexpected end":       "",
		"invalid character":    "[}",
		"newer gowhy":          change(`"schema":1`, `"schema":2`),
		"0 looks":              `{"kind":"gowhy holders","schema":1}`,
		"3 looks":              string(HoldersJSON(first, first, second)),
		"order of time":        string(HoldersJSON(second, first)),
		"makes no sense":       `{"kind":"gowhy holders","schema":1,"looks":[null]}`,
		`"main.cache" holds`:   change(`"shared_bytes":8`, `"shared_bytes":4001`),
		`"main.cache" holds m`: change(`"use":0.25`, `"use":1.25`),
		`of "main.load"`:       change(`"samples":3`, `"samples":-3`),
		`"main.cache" holds `:  change(`"pointers":[8]`, `"pointers":[8`+strings.Repeat(",8", 64)+`]`),
		"more bytes":           change(`"bytes":4100`, `"bytes":72057594037927937`),
		"larger than 16 MiB":   whole + strings.Repeat(" ", maxHoldersFile),
	} {
		if looks, err := ParseHolders(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseHolders() = %d looks, %v; want %q", len(looks), err, want)
		}
	}
}

// FuzzHolders reads whatever there is: what is accepted can be named, and written and read again.
func FuzzHolders(f *testing.F) {
	first, second := heldLooks()
	f.Add(HoldersJSON(first, second))
	f.Add(HoldersJSON(second))
	f.Add([]byte(`{"kind":"gowhy holders","schema":1,"looks":[{"holders":[{"kind":"goroutines","count":3,"path":[{"size":96}]}]},{"time":"2026-01-01T00:00:00Z"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		looks, err := ParseHolders(bytes.NewReader(text))
		if err != nil {
			return
		}
		for _, l := range looks {
			for i := range l.Holders {
				_ = l.Holders[i].Words() + l.Holders[i].Way()
			}
		}
		again, err := ParseHolders(bytes.NewReader(HoldersJSON(looks...)))
		if err != nil || len(again) != len(looks) {
			t.Fatalf("%d of %d looks are read again: %v", len(again), len(looks), err)
		}
	})
}

package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// columnsOf adds up a profile by the functions of its stacks.
func columnsOf(m *model.Model, p *model.Profile) map[string][]int64 {
	sums := map[string][]int64{}
	for _, s := range p.Samples {
		var names []string
		for _, f := range m.Stacks.Frames(s.Stack) {
			names = append(names, f.Func)
		}
		key := strings.Join(names, "<")
		if sums[key] == nil {
			sums[key] = make([]int64, len(s.Values))
		}
		for i, v := range s.Values {
			sums[key][i] += v
		}
	}
	return sums
}

// What -raw prints is the profile that it was printed of.
func TestPprofRaw(t *testing.T) {
	raw, whole := loadFixture(t, filepath.Join("pprof", "raw.txt")), loadFixture(t, filepath.Join("pprof", "cpu.pb.gz"))
	if raw.CPU == nil || whole.CPU == nil {
		t.Fatalf("CPU profiles: %v and %v", raw.CPU, whole.CPU)
	}
	if got, want := columnsOf(raw, raw.CPU), columnsOf(whole, whole.CPU); len(want) < 10 || !reflect.DeepEqual(got, want) {
		t.Errorf("the printed profile has %d stacks %v, want the %d of the profile: %v", len(got), got, len(want), want)
	}
	if got, want := raw.CPU.Types, whole.CPU.Types; !reflect.DeepEqual(got, want) {
		t.Errorf("types of the printed profile = %v, want %v", got, want)
	}
}

func TestPprofRawOfOthers(t *testing.T) {
	const head = "PeriodType: space bytes\nPeriod: 524288\nDuration: 2.5\nSamples:\nalloc_objects/count alloc_space/bytes[dflt]\n"
	for _, c := range []struct {
		name, text string
		stacks     int
		noted      string
	}{
		{"sizes, and no columns of lines", head + "  8  557738: 1 2 \n                bytes:[65536]\nLocations\n" +
			"     1: 0x10 M=1 main.a[go.shape.struct { main.b int }] /a b/main.go:7 s=0\n     2: 0x20 main.main /x/main.go:9:2 s=1(main.main)\nMappings\n1: 0x0/0x0/0x0 app \n", 1, ""},
		{"who inlined it", head + "  8  557738: 1 \nLocations\n     1: 0x10 M=1 [F] main.a /m.go:7:1 s=0\n             main.b /m.go:8:1 s=0\n", 1, ""},
		{"an address alone", head + "  8  557738: 1 \nLocations\n     1: 0x10 M=1 \n", 1, ""},
		{"a location that is not there, and a value too few", head + "  8  557738: 1 \n 8 9: 2 \n  8: 1\nLocations\n     1: 0x10 main.a /m.go:7:1 s=0\n", 1, "2 samples could not be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Load(t.Context(), []string{written(t, []byte(c.text))}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := columnsOf(m, m.Heap); len(got) != c.stacks {
				t.Errorf("stacks = %v, want %d", got, c.stacks)
			}
			if c.noted != "" && !noted(m, c.noted) {
				t.Errorf("no note has %q", c.noted)
			}
		})
	}
	_, err := Load(t.Context(), []string{written(t, []byte(head))}, Options{})
	if err == nil || !strings.Contains(err.Error(), "not a trace or profile") {
		t.Errorf("Load() of a head without samples = %v, want that it is no profile", err)
	}
}

func FuzzPprofRaw(f *testing.F) {
	b, err := os.ReadFile("testdata/pprof/raw.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		l := newLoader(t.Context(), Options{NoSource: true})
		if err := l.readPprofRaw(source{name: "x", r: bytes.NewReader(b)}); err == nil {
			_, _ = l.finish()
		}
	})
}

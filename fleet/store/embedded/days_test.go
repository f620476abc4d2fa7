package embedded

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/parquet-go/parquet-go"
)

// later returns when all days of the tests are old.
func later() time.Time { return storetest.Start.Add(30 * 24 * time.Hour) }

// hourly returns a batch of batchOf, three in an hour.
func hourly(number int) *store.Batch {
	b := batchOf(number)
	b.Until = storetest.Start.Add(time.Duration(number) * 20 * time.Minute)
	return b
}

// The directory as it is before each step of a store that merges the hours of old days opens
// with all that was acknowledged by then.
func TestOpenAfterCrashInDays(t *testing.T) {
	t.Parallel()
	type moment struct {
		dir          string
		acknowledged int
	}
	var moments []moment
	acknowledged := 0
	dir, copies := t.TempDir(), t.TempDir()
	disk := &hookDisk{before: func(what string) error {
		to := filepath.Join(copies, fmt.Sprintf("%03d-%s", len(moments), what))
		moments = append(moments, moment{to, acknowledged})
		return os.CopyFS(to, os.DirFS(dir))
	}}
	s := mustOpen(t, dir, Options{disk: disk, now: later})
	for i := range 20 {
		if err := s.Write(t.Context(), hourly(i)); err != nil {
			t.Fatal(err)
		}
		acknowledged++
		if i%4 == 3 {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.ContainsFunc(s.listed, func(g *segment) bool { return hourOf(g.max) > hourOf(g.min)+1 }) {
		t.Fatal("no segment is of several hours")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, m := range moments {
		s, err := Open(m.dir, Options{now: later})
		if err != nil {
			t.Fatalf("%s: %v", m.dir, err)
		}
		holds(t, s, m.acknowledged)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// fleetOfDays is some batches of two versions over two days.
func fleetOfDays() []*store.Batch {
	shapes := []simulate.Shape{
		{Type: store.CPU, Count: 12, Sum: 30e9, Unit: 10e6},
		{Type: store.BlockDelay, Count: 4, Sum: 8e9, Unit: 1},
	}
	plan := simulate.Plan{
		Seed: 3, Start: storetest.Start, Length: 30 * time.Hour, Step: 15 * time.Minute,
		Services: []simulate.Service{{Name: "cart", Processes: 3, Stacks: shapes, Versions: []simulate.Version{
			{Name: "v1"}, {Name: "v2", Deploy: 9 * time.Hour, Rollout: 2 * time.Hour},
		}}},
	}
	return slices.Collect(plan.Batches())
}

// Days that are merged answer as the same batches in memory do, and are few files.
func TestDays(t *testing.T) {
	t.Parallel()
	memory, days := mustOpen(t, t.TempDir(), Options{}), mustOpen(t, t.TempDir(), Options{now: later})
	for i, b := range fleetOfDays() {
		for _, s := range []*Store{memory, days} {
			if err := s.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if i%60 == 59 {
			if err := days.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := days.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(days.listed); n > 8 {
		t.Errorf("%d segments of two days and a service", n)
	}
	at := func(d time.Duration) time.Time { return storetest.Start.Add(d) }
	zone := []store.Label{{Name: "zone", Value: "zone-1"}}
	for _, s := range []store.Selection{
		{},
		{From: at(3 * time.Hour), Until: at(25 * time.Hour)},
		{From: at(3*time.Hour + 7*time.Minute), Until: at(3*time.Hour + 22*time.Minute)},
		{Version: "v1"}, {Version: "v2", From: at(10 * time.Hour)},
		{Instance: "host-001"}, {Labels: zone}, {Labels: zone, Until: at(11*time.Hour + time.Minute)},
	} {
		s.Type = store.CPU
		for _, step := range []time.Duration{time.Hour, 7 * time.Minute} {
			answers := func(r store.Reader) []any {
				services, err1 := r.Services(t.Context(), s)
				instances, err2 := r.Instances(t.Context(), s)
				stacks, err3 := r.Stacks(t.Context(), s)
				series, err4 := r.Series(t.Context(), s, step, store.ByInstance)
				return []any{services, err1, instances, err2, stacks, err3, series, err4}
			}
			if got, want := answers(days), answers(memory); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, step %v:\ngot  %.300v\nwant %.300v", s, step, got, want)
			}
		}
	}
}

// Where less than some days are kept, hours stay hours, so that each goes when it should.
func TestShortKeep(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), Options{Keep: 48 * time.Hour, now: func() time.Time { return storetest.Start.Add(40 * time.Hour) }})
	for i := range 20 {
		flushed(t, s, i)
		if err := s.Write(t.Context(), hourly(i+100)); err != nil {
			t.Fatal(err)
		}
	}
	for _, g := range s.listed {
		if hourOf(g.min) != hourOf(g.max) {
			t.Errorf("a segment is from %d to %d", g.min, g.max)
		}
	}
}

func TestOtherFormat(t *testing.T) {
	for _, format := range []int{0, 1, version + 1} {
		dir := t.TempDir()
		s := mustOpen(t, dir, Options{})
		if _, err := s.catalog.db.Exec(fmt.Sprintf("PRAGMA user_version = %d", format)); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("is of format %d", format)) {
			t.Errorf("Open of format %d: %v", format, err)
		}
	}
}

// Readers of Parquet that know nothing of the store see the rows as they were sent.
func TestRows(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, t.TempDir(), Options{})
	batches := fleetOfDays()[:9]
	type row struct {
		Type     string `parquet:"type"`
		Time     int64  `parquet:"time"`
		Stack    int64  `parquet:"stack"`
		Value    int64  `parquet:"value"`
		Version  string `parquet:"version"`
		Instance string `parquet:"instance"`
		Labels   string `parquet:"labels"`
	}
	want := map[row]int{}
	for _, b := range batches {
		if err := s.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		for _, p := range b.Profiles {
			for _, x := range p.Samples {
				want[row{
					string(p.Type), b.Until.UnixMilli(), int64(x.Stack), x.Value, b.Source.Version, b.Source.Instance,
					labelsText(b.Source.Labels),
				}]++
			}
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := map[row]int{}
	for _, g := range s.listed {
		rows, err := parquet.ReadFile[row](s.segments.samples(g.id))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			got[r]++
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d rows that differ or are not there, of %d", len(got), len(want))
	}
}

func FuzzRollup(f *testing.F) {
	var whole bytes.Buffer
	w, err := newRollupWriter(&whole)
	if err != nil {
		f.Fatal(err)
	}
	some := newSums()
	some.add(1, 2)
	totals := hourTotals{}
	totals.add(hourTotal{kind: "cpu", source: 1, first: 5, least: 10, most: 10, covered: 5, value: 2})
	err = w.totals(0, totals)
	if err == nil {
		err = w.stacks(sectionKey{"cpu", 0, "v1"}, 10, 10, some)
	}
	if err == nil {
		err = w.close()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := readRollup(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for i := range r.sections {
			_ = r.stacks(&r.sections[i], newSums()) // an error or sums: either is an answer
			_ = r.totals(&r.sections[i], func(hourTotal) {})
		}
	})
}

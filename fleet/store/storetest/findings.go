package storetest

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// findings are of two tenants over two hours, some with names that a rule does not make.
func findings() (all []store.Finding) {
	odd := "a\x00b\xff\xfe'\"\\\n" + strings.Repeat("é", 40)
	for i := range 24 {
		f := store.Finding{
			Service: "cart", Version: "v1", Until: Start.Add(time.Duration(i/2) * 10 * time.Minute), Rule: "gccost", Title: "The collector works",
			Function: "main.work", File: "main.go", Line: int32(i % 2), Instances: 4, Cost: int64(i) * 1e6, Bound: 5e5, Unit: "cores",
			Confidence: "high", Evidence: []byte(`{"figure":1}`),
		}
		f.From = f.Until.Add(-10 * time.Minute)
		switch i % 6 {
		case 1:
			f.Version = "v2"
		case 2:
			f.Service, f.Title, f.Function, f.File, f.Evidence = odd, odd, odd, odd, []byte(odd)
		case 3:
			f.Tenant, f.Cost, f.Bound = "other", math.MaxInt64, math.MinInt64
		case 4:
			f.Rule, f.Title, f.Function, f.File, f.Evidence = "", "healthy", "", "", nil
		case 5:
			f.Until = f.Until.Add(999 * time.Microsecond) // cut off
		}
		all = append(all, f)
	}
	all[4].Until, all[4].From = time.UnixMilli(-1), time.UnixMilli(-600_001)
	return all
}

func testFindings(t *testing.T, s store.Store) {
	defer mustClose(t, s)
	var reference Reference
	compareFindings(t, s, &reference) // nothing yet
	all := findings()
	writeFindings(t, all[:10], s, &reference)
	liar := all[5]
	liar.Title = "something else"
	writeFindings(t, append([]store.Finding{liar}, all[3:]...), s, &reference)
	writeFindings(t, nil, s, &reference)
	compareFindings(t, s, &reference)
}

func writeFindings(t *testing.T, f []store.Finding, writers ...store.FindingWriter) {
	t.Helper()
	for _, w := range writers {
		if err := w.WriteFindings(t.Context(), f); err != nil {
			t.Fatalf("WriteFindings: %v", err)
		}
	}
}

func compareFindings(t *testing.T, got, want store.Reader) {
	t.Helper()
	hour := Start.Add(time.Hour)
	for _, s := range []store.Selection{
		{}, {Tenant: "other"}, {Tenant: "nobody"}, {Service: "cart"}, {Service: "cart", Version: "v2"}, {Version: "v2"},
		{From: hour}, {Until: hour}, {From: Start, Until: hour}, {From: hour, Until: hour.Add(time.Millisecond)}, {From: hour, Until: hour},
		{Service: "cart", Instance: "does not matter", Type: store.CPU, Labels: []store.Label{{Name: "does not", Value: "matter"}}},
	} {
		is, err := got.Findings(t.Context(), s)
		if err != nil {
			t.Fatalf("Findings of %+v: %v", s, err)
		}
		be, _ := want.Findings(t.Context(), s)
		if !reflect.DeepEqual(plainFindings(is), plainFindings(be)) {
			t.Errorf("Findings of %+v:\ngot  %s\nwant %s", s, head(is), head(be))
		}
	}
}

// plainFindings are findings without what does not matter in them.
func plainFindings(a store.Findings) store.Findings {
	a.Findings = list(a.Findings)
	for i := range a.Findings {
		f := &a.Findings[i]
		f.From, f.Until, f.Evidence = f.From.UTC(), f.Until.UTC(), list(f.Evidence)
	}
	return a
}

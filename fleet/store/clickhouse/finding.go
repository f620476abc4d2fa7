package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// WriteFindings keeps findings. One that is known already changes nothing: of those with
// the same key the one written first counts. It returns nil when they are on their
// servers; else some may be, and it may be called with all of them again.
func (s *Store) WriteFindings(ctx context.Context, found []store.Finding) error {
	select {
	case <-s.closing:
		return store.ErrClosed
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	defer context.AfterFunc(s.running, cancel)()
	byShard := map[*shard][]*store.Finding{}
	for i := range found {
		f := &found[i]
		to := s.shardOf(f.Tenant, f.Service)
		byShard[to] = append(byShard[to], f)
	}
	for to, list := range byShard {
		rows, err := s.findingGroups(list)
		if err != nil {
			return err
		}
		for _, group := range rows {
			if err := s.insertFindings(ctx, to, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// findingGroups returns the rows of findings in parts that one INSERT takes.
func (s *Store) findingGroups(list []*store.Finding) ([][]byte, error) {
	var groups [][]byte
	var rows []byte
	days := map[int64]bool{}
	for _, f := range list {
		before := len(rows)
		rows = s.appendFinding(rows, f)
		if len(rows)-before > mostBatch {
			return nil, fmt.Errorf("a finding of %q is %d bytes; %d are the most", f.Service, len(rows)-before, mostBatch)
		}
		if days[f.Until.UnixMilli()/day] = true; len(days) == mostDays || len(rows) > mostGroup {
			groups, rows = append(groups, rows), nil
			clear(days)
		}
	}
	if len(rows) > 0 {
		groups = append(groups, rows)
	}
	return groups, nil
}

func (s *Store) appendFinding(to []byte, f *store.Finding) []byte {
	to = appendText(appendText(appendText(to, f.Tenant), f.Service), f.Version)
	to = appendInt64(appendInt64(to, f.From.UnixMilli()), f.Until.UnixMilli())
	to = appendText(appendText(to, f.Rule), f.Title)
	to = appendInt32(appendText(appendText(to, f.Function), f.File), f.Line)
	to = appendInt64(appendInt64(appendInt64(to, f.Instances), f.Cost), f.Bound)
	to = appendText(appendText(to, f.Unit), f.Confidence)
	return appendUint64(appendText(to, string(f.Evidence)), s.age())
}

// insertFindings tries until the context ends.
func (s *Store) insertFindings(ctx context.Context, to *shard, rows []byte) error {
	pause := newPause()
	for {
		err := to.insert(ctx, findings, rows)
		if err == nil {
			return nil
		}
		if !pause.wait(ctx) {
			if s.running.Err() != nil {
				return store.ErrClosed
			}
			return fmt.Errorf("findings: %w: %s: %w", store.ErrFull, to.name, err)
		}
	}
}

// agedFinding is a finding and what tells which of a key counts.
type agedFinding struct {
	store.Finding
	age uint64
}

// Findings returns those whose Until is in the time of a selection, of which only tenant,
// service, version and time matter; by Until, service, version, rule, function, file and
// line.
func (s *Store) Findings(ctx context.Context, selected store.Selection) (store.Findings, error) {
	conditions := []string{"tenant = " + quote(selected.Tenant), inTime("ts", selected)}
	if selected.Service != "" {
		conditions = append(conditions, "service = "+quote(selected.Service))
	}
	if selected.Version != "" {
		conditions = append(conditions, "version = "+quote(selected.Version))
	}
	query := "SELECT toUInt8(1), " + findings.names() + " FROM findings WHERE " + strings.Join(conditions, " AND ")
	rows, absent, err := ask(ctx, s.shardsOf(selected), query, decodeFinding)
	if err != nil {
		return store.Findings{}, fmt.Errorf("findings: %w", err)
	}
	slices.SortFunc(rows, func(a, b agedFinding) int {
		return cmp.Or(compareKeys(&a.Finding, &b.Finding), cmp.Compare(b.age, a.age))
	})
	answer := store.Findings{Missing: absent.missing()}
	for i := range rows {
		if i == 0 || compareKeys(&rows[i-1].Finding, &rows[i].Finding) != 0 {
			answer.Findings = append(answer.Findings, rows[i].Finding)
		}
	}
	return answer, nil
}

// compareKeys compares findings of one tenant by what they are known by.
func compareKeys(a, b *store.Finding) int {
	return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Version, b.Version),
		cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Function, b.Function), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

func decodeFinding(d *decoder) agedFinding {
	millis := func() time.Time { return time.UnixMilli(d.int64()).UTC() }
	return agedFinding{
		Finding: store.Finding{
			Tenant: d.text(), Service: d.text(), Version: d.text(), From: millis(), Until: millis(),
			Rule: d.text(), Title: d.text(), Function: d.text(), File: d.text(), Line: d.int32(),
			Instances: d.int64(), Cost: d.int64(), Bound: d.int64(), Unit: d.text(), Confidence: d.text(),
			Evidence: []byte(d.text()),
		},
		age: d.uint64(),
	}
}

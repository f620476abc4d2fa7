package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A sum is what batches have together.
type sum struct {
	service, version, instance string
	instances                  uint64
	first, last, covered       int64
	totals                     []store.Total
}

// sums returns those of a selection by version, or by process. The rows of a group are summed
// by type first; then the types of a group become one row.
func (s *Store) sums(ctx context.Context, selected store.Selection, byInstance bool) ([]sum, absences, error) {
	keys, state, merged := "service, version", "uniqExactState(instance)", "uniqExactMerge(seen)"
	if byInstance {
		keys, state, merged = "service, version, instance", "toUInt64(1)", "any(seen)"
	}
	columns := "service, version, instance, begin, ts, total"
	query := "SELECT toUInt8(1), " + keys + ", " + merged + ", min(earliest), max(latest), sum(covered), groupArray(ptype), groupArray(value) FROM (" +
		"SELECT " + keys + ", ptype, " + state + " AS seen, min(begin) AS earliest, max(ts) AS latest, " +
		"sum(if(ptype = " + quote(string(store.CPU)) + ", ts - begin, 0)) AS covered, " + saturated("total") + " AS value FROM " +
		once(columns, where(selected)) + " GROUP BY " + keys + ", ptype) AS t GROUP BY " + keys
	all, absent, err := ask(ctx, s.shardsOf(selected), query, func(d *decoder) sum {
		one := sum{service: d.text(), version: d.text()}
		if byInstance {
			one.instance = d.text()
		}
		one.instances, one.first, one.last, one.covered = d.uint64(), d.int64(), d.int64(), d.int64()
		types, values := list(d, d.text), list(d, d.int64)
		for i, kind := range types {
			if kind != "" && i < len(values) { // the row of a batch without profiles
				one.totals = append(one.totals, store.Total{Type: store.Type(kind), Value: values[i]})
			}
		}
		slices.SortFunc(one.totals, func(a, b store.Total) int { return cmp.Compare(a.Type, b.Type) })
		return one
	})
	slices.SortFunc(all, func(a, b sum) int {
		return cmp.Or(cmp.Compare(a.service, b.service), cmp.Compare(a.version, b.version), cmp.Compare(a.instance, b.instance))
	})
	return all, absent, err
}

func (s sum) span() (first, last time.Time, covered time.Duration) {
	return time.UnixMilli(s.first).UTC(), time.UnixMilli(s.last).UTC(), time.Duration(s.covered) * time.Millisecond
}

// Services returns a [store.Reader]'s.
func (s *Store) Services(ctx context.Context, selected store.Selection) (store.Services, error) {
	sums, absent, err := s.sums(ctx, selected, false)
	if err != nil {
		return store.Services{}, fmt.Errorf("services: %w", err)
	}
	answer := store.Services{Missing: absent.missing()}
	for _, one := range sums {
		first, last, covered := one.span()
		answer.Services = append(answer.Services, store.Service{
			Name: one.service, Version: one.version, Instances: int(one.instances),
			First: first, Last: last, Covered: covered, Totals: one.totals,
		})
	}
	return answer, nil
}

// Instances returns a [store.Reader]'s.
func (s *Store) Instances(ctx context.Context, selected store.Selection) (store.Instances, error) {
	sums, absent, err := s.sums(ctx, selected, true)
	if err != nil {
		return store.Instances{}, fmt.Errorf("instances: %w", err)
	}
	answer := store.Instances{Missing: absent.missing()}
	for _, one := range sums {
		first, last, covered := one.span()
		answer.Instances = append(answer.Instances, store.Instance{
			Service: one.service, Version: one.version, Name: one.instance,
			First: first, Last: last, Covered: covered, Totals: one.totals,
		})
	}
	return answer, nil
}

// Stacks returns a [store.Reader]'s.
func (s *Store) Stacks(ctx context.Context, selected store.Selection) (store.Stacks, error) {
	if selected.Type == "" {
		return store.Stacks{}, errors.New("stacks: the selection has no type")
	}
	condition := where(selected) + " AND ptype = " + quote(string(selected.Type))
	query := "SELECT toUInt8(1), stack, " + saturated("value") + " FROM " + once("stack_ids, stack_values", condition) +
		" ARRAY JOIN stack_ids AS stack, stack_values AS value GROUP BY stack"
	samples, absent, err := ask(ctx, s.shardsOf(selected), query, func(d *decoder) store.Sample {
		return store.Sample{Stack: store.StackID(d.int64()), Value: d.int64()}
	})
	answer := store.Stacks{}
	if err == nil {
		values := map[store.StackID]int64{}
		for _, sample := range samples {
			values[sample.Stack] = store.Add(values[sample.Stack], sample.Value)
			answer.Total = store.Add(answer.Total, sample.Value)
		}
		for id, value := range values {
			answer.Samples = append(answer.Samples, store.Sample{Stack: id, Value: value})
		}
		slices.SortFunc(answer.Samples, func(a, b store.Sample) int {
			return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Stack, b.Stack))
		})
		err = s.frames(ctx, selected.Tenant, &answer, absent)
	}
	if err != nil {
		return store.Stacks{}, fmt.Errorf("stacks: %w", err)
	}
	answer.Missing = absent.missing()
	return answer, nil
}

// framesRow is the frames of a stack as one shard has them.
type framesRow struct {
	stack  store.StackID
	age    uint64
	frames []*store.Frame
}

// frames adds those of the samples. They are a tenant's: any of its services may have
// sent them, to any shard. One that does not answer is absent only where a stack has none.
func (s *Store) frames(ctx context.Context, tenant string, answer *store.Stacks, absent absences) error {
	answer.Frames = map[store.StackID][]*store.Frame{}
	ages := map[store.StackID]uint64{}
	silent := absences{}
	for part := range slices.Chunk(answer.Samples, mostAsked) {
		list := make([]string, len(part))
		for i, sample := range part {
			list[i] = strconv.FormatInt(int64(sample.Stack), 10)
		}
		query := "SELECT toUInt8(1), stack, age, functions, files, lines FROM stacks WHERE tenant = " + quote(tenant) +
			" AND stack IN (" + strings.Join(list, ",") + ")"
		rows, without, err := ask(ctx, s.shards, query, decodeFrames)
		if err != nil {
			return err
		}
		maps.Copy(silent, without)
		for _, row := range rows {
			if _, have := ages[row.stack]; !have || row.age > ages[row.stack] {
				ages[row.stack], answer.Frames[row.stack] = row.age, row.frames
			}
		}
	}
	complete := !slices.ContainsFunc(answer.Samples, func(sample store.Sample) bool {
		return sample.Stack != 0 && answer.Frames[sample.Stack] == nil
	})
	if !complete {
		maps.Copy(absent, silent)
	}
	return nil
}

func decodeFrames(d *decoder) framesRow {
	row := framesRow{stack: store.StackID(d.int64()), age: d.uint64()}
	functions, files, lines := list(d, d.text), list(d, d.text), list(d, d.int32)
	if len(functions) != len(files) || len(functions) != len(lines) {
		d.fail(fmt.Errorf("stack %d has %d functions, %d files and %d lines", row.stack, len(functions), len(files), len(lines)))
		return row
	}
	for i, function := range functions {
		row.frames = append(row.frames, &store.Frame{Function: function, File: files[i], Line: lines[i]})
	}
	return row
}

// pointRow is a sum of a series as one shard has it.
type pointRow struct {
	key           string
	number, value int64
}

// Series returns a [store.Reader]'s.
func (s *Store) Series(ctx context.Context, selected store.Selection, step time.Duration, by store.By) (store.SeriesSet, error) {
	key, err := keyColumn(by)
	if err == nil && selected.Type == "" && by != store.ByType {
		err = errors.New("the selection has no type")
	}
	if err == nil && step < time.Millisecond {
		err = fmt.Errorf("a step of %v is shorter than a millisecond", step)
	}
	if err != nil {
		return store.SeriesSet{}, fmt.Errorf("series: %w", err)
	}
	condition := where(selected) + " AND ptype != ''"
	if selected.Type != "" {
		condition += " AND ptype = " + quote(string(selected.Type))
	}
	from := selected.From.UnixMilli()
	number := fmt.Sprintf("intDiv(ts - (%d), %d)", from, step.Milliseconds())
	query := "SELECT toUInt8(1), series, number, " + saturated("total") + " FROM " +
		once(key+" AS series, "+number+" AS number, total", condition) + " GROUP BY series, number"
	rows, absent, err := ask(ctx, s.shardsOf(selected), query, func(d *decoder) pointRow {
		return pointRow{d.text(), d.int64(), d.int64()}
	})
	if err != nil {
		return store.SeriesSet{}, fmt.Errorf("series: %w", err)
	}
	points := map[string]map[int64]int64{}
	for _, row := range rows {
		if points[row.key] == nil {
			points[row.key] = map[int64]int64{}
		}
		points[row.key][row.number] = store.Add(points[row.key][row.number], row.value)
	}
	answer := store.SeriesSet{Missing: absent.missing()}
	for _, k := range slices.Sorted(maps.Keys(points)) {
		series := store.Series{Key: k}
		for _, number := range slices.Sorted(maps.Keys(points[k])) {
			at := time.UnixMilli(from + number*step.Milliseconds()).UTC()
			series.Points = append(series.Points, store.Point{At: at, Value: points[k][number]})
		}
		answer.Series = append(answer.Series, series)
	}
	return answer, nil
}

// Values returns a [store.Reader]'s.
func (s *Store) Values(ctx context.Context, selected store.Selection, by store.By) (store.Values, error) {
	condition := where(selected)
	var column string
	switch by {
	case store.ByLabels:
		column = "arrayJoin(label_names)"
	case store.ByType:
		column, condition = "ptype", condition+" AND ptype != ''"
	default:
		var err error
		if column, err = keyColumn(by); err != nil {
			return store.Values{}, fmt.Errorf("values: %w", err)
		}
	}
	query := "SELECT toUInt8(1), " + column + " AS found FROM profiles WHERE " + condition + " GROUP BY found"
	values, absent, err := ask(ctx, s.shardsOf(selected), query, (*decoder).text)
	if err != nil {
		return store.Values{}, fmt.Errorf("values: %w", err)
	}
	slices.Sort(values)
	return store.Values{Values: slices.Compact(values), Missing: absent.missing()}, nil
}

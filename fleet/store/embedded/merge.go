package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

const (
	// mergeFrom is how many segments are merged at least. Their sizes grow by a factor
	// then: a row is written again with each quadrupling, about.
	mergeFrom = 4
	// mergeBytes is the size from which a segment is merged no more.
	mergeBytes = 512 << 20
	// dayIsOld is how long after its end the hours of a day are merged with each other:
	// what comes late is there by then.
	dayIsOld = 2 * time.Hour
	// daysFrom is how long segments are kept at least where days are merged: a day goes as
	// one, so its first batch is a day older than Keep.
	daysFrom = 7 * 24 * time.Hour
)

// toMerge are lists of segments: of a service and hour, or of a day that is old. Days are
// left as hours where only some are kept, so that hours go when they should.
func toMerge(listed []*segment, now time.Time, keep time.Duration) [][]*segment {
	old := dayOf(hourOf(now.Add(-dayIsOld).UnixMilli()))
	if keep > 0 && keep < daysFrom {
		old = math.MinInt64
	}
	places := map[place][]*segment{}
	for _, g := range listed {
		p := g.place
		if day := dayOf(p.hour); day < old {
			p.hour = day * dayHours
		}
		if g.bytes < mergeBytes {
			places[p] = append(places[p], g)
		}
	}
	var groups [][]*segment
	for _, p := range slices.SortedFunc(maps.Keys(places), place.compare) {
		if group := grown(places[p]); len(group) >= mergeFrom {
			groups = append(groups, group)
		}
	}
	return groups
}

// grown returns the smallest of segments, of which the largest is no larger than the others
// together, so that merging pays: as many as that holds for.
func grown(all []*segment) []*segment {
	slices.SortStableFunc(all, func(a, b *segment) int { return cmp.Compare(a.bytes, b.bytes) })
	together, bytes := 0, int64(0)
	for i, g := range all {
		if g.bytes <= bytes {
			together = i + 1
		}
		bytes += g.bytes
		if bytes > mergeBytes {
			break
		}
	}
	return all[:together]
}

// merge makes one segment of several.
func (s *Store) merge(group []*segment) error {
	slices.SortFunc(group, func(a, b *segment) int { return cmp.Or(cmp.Compare(a.hour, b.hour), cmp.Compare(a.id, b.id)) })
	merged := &segment{place: group[0].place, min: group[0].min, max: group[0].max}
	for _, g := range group {
		merged.min, merged.max = min(merged.min, g.min), max(merged.max, g.max)
	}
	m, err := s.openAll(group)
	if err == nil {
		s.nextID++
		merged.id = s.nextID
		merged.bytes, err = s.segments.create(merged.id, func(w *segmentWriter) error {
			defer func() { merged.rows = w.samples.meta.NumRows }()
			return m.write(w)
		})
	}
	err = errors.Join(err, m.close())
	if err == nil {
		err = s.segments.disk.syncDir(s.segments.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("merging: %w", err), s.segments.remove(merged.id))
	}
	if err := s.catalog.replace(group, merged); err != nil {
		return err
	}
	return s.replace(group, merged)
}

// A merger has segments open that become one.
type merger struct {
	samples, totals []*columnFile
	rollups         []*rollup
	close           func() error
	named           func(int64) *store.Source
	group           *sampleGroup // rows, of one type and hour at a time
}

func (s *Store) openAll(group []*segment) (*merger, error) {
	var closers []func() error
	m := &merger{group: newSampleGroup(), named: func(id int64) *store.Source { return s.sources[id] }}
	m.close = func() error {
		var err error
		for _, c := range closers {
			err = errors.Join(err, c())
		}
		return err
	}
	for _, g := range group {
		for _, open := range []struct {
			path string
			to   *[]*columnFile
		}{{s.segments.samples(g.id), &m.samples}, {s.segments.totals(g.id), &m.totals}} {
			f, err := openColumns(open.path)
			if err != nil {
				return m, err
			}
			closers = append(closers, f.Close)
			*open.to = append(*open.to, f)
		}
		f, r, err := openRollup(s.segments.rollup(g.id))
		if err != nil {
			return m, err
		}
		closers = append(closers, f.Close)
		m.rollups = append(m.rollups, r)
	}
	return m, nil
}

// A rowGroup is one of a file that is merged.
type rowGroup struct {
	groupOf
	file   *columnFile
	number int
	rows   int64
}

// byHour returns the row groups of files in the order of hours, or of types and hours.
func byHour(files []*columnFile, types bool) ([][]rowGroup, error) {
	var all []rowGroup
	for _, f := range files {
		for i := range f.meta {
			of, err := f.of(i)
			if err != nil {
				return nil, err
			}
			if !types {
				of.kind = ""
			}
			all = append(all, rowGroup{of, f, i, f.meta[i].NumRows})
		}
	}
	compare := func(a, b rowGroup) int {
		return cmp.Or(strings.Compare(a.kind, b.kind), cmp.Compare(hourOf(a.least), hourOf(b.least)))
	}
	slices.SortStableFunc(all, compare)
	var groups [][]rowGroup
	for i, g := range all {
		if i == 0 || compare(all[i-1], g) != 0 {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], g)
	}
	return groups, nil
}

func (m *merger) write(w *segmentWriter) error {
	samples, err := byHour(m.samples, true)
	if err != nil {
		return err
	}
	totals, err := byHour(m.totals, false)
	if err != nil {
		return err
	}
	if err := writeAll(w.samples, samples, m.rewriteSamples); err != nil {
		return err
	}
	if err := writeAll(w.totals, totals, m.rewriteTotals); err != nil {
		return err
	}
	return mergeRollups(w.rollup, m.rollups)
}

// writeAll copies row groups that are large or the only one of their type and hour, and
// makes one of the others.
func writeAll(w *fileWriter, hours [][]rowGroup, rewrite func(*fileWriter, []rowGroup) error) error {
	for _, hour := range hours {
		var small []rowGroup
		for _, g := range hour {
			if g.rows < mostPart/2 && len(hour) > 1 {
				small = append(small, g)
				continue
			}
			if err := w.copyGroup(g.file, g.file.meta[g.number]); err != nil {
				return err
			}
		}
		if err := rewrite(w, small); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) rewriteSamples(w *fileWriter, groups []rowGroup) error {
	to := m.group
	for _, g := range groups {
		if err := to.addGroup(g); err != nil {
			return err
		}
		if len(to.stacks) >= mostPart {
			if err := to.write(w, m.named); err != nil {
				return err
			}
		}
	}
	return to.write(w, m.named)
}

// addGroup adds the rows of a row group of a type.
func (g *sampleGroup) addGroup(from rowGroup) error {
	columns, err := from.file.integers(from.number, "time", "source", "stack", "value")
	if err != nil {
		return fmt.Errorf("segment %s: %w", from.file.path, err)
	}
	defer release(columns)
	times, sources, stacks, values := &columns[0], &columns[1], &columns[2], &columns[3]
	if stacks.indices == nil {
		return fmt.Errorf("segment %s: column stack has no dictionary", from.file.path)
	}
	numbers := make([]int32, len(stacks.values))
	for i, stack := range stacks.values {
		numbers[i] = g.stackIDs.number(stack)
	}
	for row, stack := range stacks.indices {
		if row > 0 && (times.at(row) != times.at(row-1) || sources.at(row) != sources.at(row-1)) {
			g.piece(key{from.kind, times.at(row - 1), sources.at(row - 1)})
		}
		g.stacks = append(g.stacks, numbers[stack])
	}
	for row := range stacks.indices {
		g.values = append(g.values, values.at(row))
	}
	last := len(stacks.indices) - 1
	g.piece(key{from.kind, times.at(last), sources.at(last)})
	return nil
}

func (m *merger) rewriteTotals(w *fileWriter, groups []rowGroup) error {
	var rows []totalRow
	for _, g := range groups {
		err := g.file.totals(g.number, func(r totalRow) { rows = append(rows, r) })
		if err != nil {
			return fmt.Errorf("segment %s: %w", g.file.path, err)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return writeTotals(w, rows, m.named)
}

// totals gives the rows of a row group of totals.
func (f *columnFile) totals(number int, each func(totalRow)) error {
	kinds, err := f.texts(number, "type")
	if err != nil {
		return err
	}
	defer kinds.release()
	c, err := f.integers(number, "time", "source", "from", "total", "samples")
	if err != nil {
		return err
	}
	defer release(c)
	for i := range f.meta[number].NumRows {
		row := int(i)
		each(totalRow{key{kinds.at(row), c[0].at(row), c[1].at(row)}, c[2].at(row), c[3].at(row), c[4].at(row)})
	}
	return nil
}

package embedded

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// A columnFile is a file of samples or totals that is read, by columns and not by rows:
// parquet-go makes rows of values of 24 bytes, of all columns, and assigns fields by
// reflection, which takes ten times as long.
type columnFile struct {
	*os.File
	path   string
	groups []parquet.RowGroup
	meta   []format.RowGroup
}

func openColumns(path string) (*columnFile, error) {
	f, size, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("segment %s: %w", path, err), f.Close())
	}
	return &columnFile{f, path, opened.RowGroups(), opened.Metadata().RowGroups}, nil
}

func openToRead(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("segment: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("segment: %w", err), f.Close())
	}
	return f, info.Size(), nil
}

// A groupOf is what a row group has: a type, or several where it is of totals, and times.
type groupOf struct {
	kind        string // the least
	least, most int64
}

// of reads what a row group has from the statistics of its first two columns.
func (f *columnFile) of(number int) (groupOf, error) {
	columns := f.meta[number].Columns
	if len(columns) < 2 || len(columns[1].MetaData.Statistics.MinValue) != 8 || len(columns[1].MetaData.Statistics.MaxValue) != 8 {
		return groupOf{}, fmt.Errorf("segment %s: row group %d has no statistics", f.path, number)
	}
	kinds, times := &columns[0].MetaData.Statistics, &columns[1].MetaData.Statistics
	return groupOf{
		kind:  string(kinds.MinValue),
		least: int64(binary.LittleEndian.Uint64(times.MinValue)),
		most:  int64(binary.LittleEndian.Uint64(times.MaxValue)),
	}, nil
}

// each gives the row groups that are wanted.
func (f *columnFile) each(ctx context.Context, wanted func(groupOf) bool, each func(number int) error) error {
	for i := range f.groups {
		of, err := f.of(i)
		if err != nil {
			return err
		}
		if !wanted(of) {
			continue
		}
		if err := errors.Join(ctx.Err(), each(i)); err != nil {
			return fmt.Errorf("segment %s: %w", f.path, err)
		}
	}
	return nil
}

// A column is one of a row group: values, and of which of them each row has where there is
// a dictionary.
type column[T any] struct {
	values  []T
	indices []int32 // nil without a dictionary
	page    parquet.Page
}

// at returns the value of a row.
func (c *column[T]) at(row int) T {
	if c.indices != nil {
		return c.values[c.indices[row]]
	}
	return c.values[row]
}

// release lets go of the page that a column refers to.
func (c *column[T]) release() {
	if c.page != nil {
		parquet.Release(c.page)
	}
}

func release(columns []column[int64]) {
	for i := range columns {
		columns[i].release()
	}
}

// integers are columns of a row group, which the caller releases.
func (f *columnFile) integers(group int, names ...string) ([]column[int64], error) {
	columns := make([]column[int64], len(names))
	for i, name := range names {
		var err error
		columns[i], err = readColumn(f.groups[group], name, parquet.Int64, (*encoding.Values).Int64)
		if err != nil {
			release(columns)
			return nil, err
		}
	}
	return columns, nil
}

// texts returns a column of a row group, which the caller releases.
func (f *columnFile) texts(group int, name string) (column[string], error) {
	return readColumn(f.groups[group], name, parquet.ByteArray, func(values *encoding.Values) []string {
		bytes, offsets := values.ByteArray()
		var all []string
		for i := 1; i < len(offsets); i++ {
			all = append(all, string(bytes[offsets[i-1]:offsets[i]]))
		}
		return all
	})
}

// readColumn returns a column of a row group, whose page is one.
func readColumn[T any](g parquet.RowGroup, name string, kind parquet.Kind, decode func(*encoding.Values) []T) (column[T], error) {
	leaf, has := g.Schema().Lookup(name)
	if !has || leaf.Node.Type().Kind() != kind {
		return column[T]{}, fmt.Errorf("column %s is missing or has another type", name)
	}
	pages := g.ColumnChunks()[leaf.ColumnIndex].Pages()
	defer pages.Close() // it was only read
	page, err := pages.ReadPage()
	if err != nil {
		return column[T]{}, fmt.Errorf("column %s: %w", name, err)
	}
	c := column[T]{page: page}
	data := page.Data()
	rows := 0
	if dictionary := page.Dictionary(); dictionary != nil {
		entries := dictionary.Page().Data()
		c.values, c.indices = decode(&entries), data.Int32()
		rows = len(c.indices)
		most := uint32(0)
		for _, i := range c.indices {
			most = max(most, uint32(i))
		}
		if rows > 0 && uint64(most) >= uint64(len(c.values)) {
			err = errors.New("a value is not in the dictionary")
		}
	} else {
		c.values = decode(&data)
		rows = len(c.values)
	}
	if err == nil && int64(rows) != g.NumRows() {
		err = fmt.Errorf("%d rows of %d are in its first page", rows, g.NumRows())
	}
	if err != nil {
		c.release()
		return column[T]{}, fmt.Errorf("column %s: %w", name, err)
	}
	return c, nil
}

// openRollup opens the sums of a segment.
func openRollup(path string) (*os.File, *rollup, error) {
	f, size, err := openToRead(path)
	if err != nil {
		return nil, nil, err
	}
	r, err := readRollup(f, size)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("segment %s: %w", path, err), f.Close())
	}
	return f, r, nil
}

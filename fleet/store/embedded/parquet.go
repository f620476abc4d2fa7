package embedded

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquet-go writes rows: it hashes every value of every column into its dictionaries and
// took half of the CPU of keeping profiles. But seven of the ten columns of samples are the
// same for all rows of a batch, and an eighth is of few values. So the pages are made here,
// from what is known, and parquet-go has the encodings, the footer and the reading.

const parquetMagic = "PAR1"

// codec is that of all pages: parquet-go takes the first row group's for the whole file.
var codec = &zstd.Codec{Level: zstd.SpeedFastest}

// A columnKind is a column of a file.
type columnKind struct {
	name    string
	kind    format.Type
	logical format.LogicalType
	old     thrift.Null[deprecated.ConvertedType] // the same for readers of the first version of the format
}

func integerColumn(name string) columnKind { return columnKind{name: name, kind: format.Int64} }

func timeColumn(name string) columnKind {
	return columnKind{
		name: name, kind: format.Int64, old: thrift.New(deprecated.TimestampMillis),
		logical: format.LogicalType{Value: &format.TimestampType{
			IsAdjustedToUTC: true, Unit: format.TimeUnit{Value: &format.MilliSeconds{}},
		}},
	}
}

func textColumn(name string) columnKind {
	return columnKind{
		name: name, kind: format.ByteArray, old: thrift.New(deprecated.UTF8),
		logical: format.LogicalType{Value: &format.StringType{}},
	}
}

// A chunk is a column of a row group, encoded: a dictionary and indices of it, or without
// a dictionary the values.
type chunk struct {
	dictionary  []byte // plain
	entries     int
	data        []byte
	least, most []byte // of its values
}

// A fileWriter writes a file of Parquet whose row groups have a page for each column.
type fileWriter struct {
	to      io.Writer
	offset  int64
	columns []columnKind
	meta    format.FileMetaData
	packed  []byte // a page, compressed
}

func newFileWriter(to io.Writer, columns []columnKind) (*fileWriter, error) {
	w := &fileWriter{to: to, columns: columns}
	w.meta = format.FileMetaData{Version: 1, CreatedBy: "gowhy"}
	root := format.SchemaElement{Name: "row"}
	root.NumChildren.Set(int32(len(columns)))
	w.meta.Schema = append(w.meta.Schema, root)
	for _, c := range columns {
		w.meta.Schema = append(w.meta.Schema, format.SchemaElement{
			Name: c.name, Type: thrift.New(c.kind), RepetitionType: thrift.New(format.Required),
			LogicalType: c.logical, ConvertedType: c.old,
		})
		w.meta.ColumnOrders = append(w.meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	return w, w.write([]byte(parquetMagic))
}

func (w *fileWriter) write(data []byte) error {
	n, err := w.to.Write(data)
	w.offset += int64(n)
	return err
}

// group writes a row group of n rows.
func (w *fileWriter) group(rows int, chunks []chunk) error {
	g := format.RowGroup{NumRows: int64(rows), FileOffset: w.offset, Ordinal: int16(len(w.meta.RowGroups))}
	for i := range chunks {
		meta, err := w.chunk(w.columns[i], rows, &chunks[i])
		if err != nil {
			return err
		}
		g.TotalByteSize += meta.TotalUncompressedSize
		g.TotalCompressedSize += meta.TotalCompressedSize
		g.Columns = append(g.Columns, format.ColumnChunk{MetaData: meta})
	}
	w.add(g)
	return nil
}

func (w *fileWriter) add(g format.RowGroup) {
	w.meta.NumRows += g.NumRows
	w.meta.RowGroups = append(w.meta.RowGroups, g)
}

func (w *fileWriter) chunk(c columnKind, rows int, from *chunk) (format.ColumnMetaData, error) {
	meta := format.ColumnMetaData{
		Type: c.kind, PathInSchema: []string{c.name}, NumValues: int64(rows), Codec: format.Zstd,
		Statistics: format.Statistics{MinValue: from.least, MaxValue: from.most},
	}
	pages, encoding := [][]byte{from.data}, format.DeltaBinaryPacked
	meta.Encoding = []format.Encoding{encoding}
	if from.entries > 0 {
		pages, encoding = [][]byte{from.dictionary, from.data}, format.RLEDictionary
		meta.Encoding = []format.Encoding{format.Plain, encoding}
	}
	begin := w.offset
	for i, page := range pages {
		var err error
		if w.packed, err = codec.Encode(w.packed, page); err != nil {
			return meta, err
		}
		header := format.PageHeader{UncompressedPageSize: int32(len(page)), CompressedPageSize: int32(len(w.packed))}
		if i == 0 && from.entries > 0 {
			meta.DictionaryPageOffset = w.offset
			header.Type = format.DictionaryPage
			header.DictionaryPageHeader.Set(format.DictionaryPageHeader{NumValues: int32(from.entries), Encoding: format.Plain})
		} else {
			meta.DataPageOffset = w.offset
			header.Type = format.DataPage
			header.DataPageHeader.Set(format.DataPageHeader{
				NumValues: int32(rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
			})
		}
		encoded, err := thrift.Marshal(new(thrift.CompactProtocol), &header)
		if err != nil {
			return meta, err
		}
		meta.TotalUncompressedSize += int64(len(encoded) + len(page))
		if err := w.write(encoded); err != nil {
			return meta, err
		}
		if err := w.write(w.packed); err != nil {
			return meta, err
		}
	}
	meta.TotalCompressedSize = w.offset - begin
	return meta, nil
}

// copyGroup writes a row group of another file of the same columns as it is.
func (w *fileWriter) copyGroup(from io.ReaderAt, g format.RowGroup) error {
	begin, end := extent(&g)
	moved := w.offset - begin
	if _, err := io.Copy(writerFunc(w.write), io.NewSectionReader(from, begin, end-begin)); err != nil {
		return err
	}
	g.Columns = append([]format.ColumnChunk(nil), g.Columns...)
	for i := range g.Columns {
		m := &g.Columns[i].MetaData
		m.DataPageOffset += moved
		if m.DictionaryPageOffset > 0 {
			m.DictionaryPageOffset += moved
		}
	}
	g.FileOffset, g.Ordinal = begin+moved, int16(len(w.meta.RowGroups))
	w.add(g)
	return nil
}

// extent returns where the pages of a row group begin and end: they are in one piece.
func extent(g *format.RowGroup) (begin, end int64) {
	first := g.Columns[0].MetaData
	begin = first.DataPageOffset
	if first.DictionaryPageOffset > 0 {
		begin = min(begin, first.DictionaryPageOffset)
	}
	end = begin
	for _, c := range g.Columns {
		end += c.MetaData.TotalCompressedSize
	}
	return begin, end
}

type writerFunc func([]byte) error

func (f writerFunc) Write(p []byte) (int, error) {
	if err := f(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// close writes the footer.
func (w *fileWriter) close() error {
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &w.meta)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	return w.write(append(footer, parquetMagic...))
}

// A run is rows in a row with the same entry of a dictionary.
type run struct {
	entry int32
	rows  int
}

// encodeRuns returns the indices of runs, as RLE_DICTIONARY has them.
func encodeRuns(to []byte, runs []run) []byte {
	most := int32(0)
	for _, r := range runs {
		most = max(most, r.entry)
	}
	width := bits.Len32(uint32(most))
	to = append(to[:0], byte(width))
	for i := 0; i < len(runs); {
		entry, rows := runs[i].entry, 0
		for ; i < len(runs) && runs[i].entry == entry; i++ {
			rows += runs[i].rows
		}
		to = binary.AppendUvarint(to, uint64(rows)<<1)
		for shift := 0; shift < width; shift += 8 {
			to = append(to, byte(entry>>shift))
		}
	}
	return to
}

// encodeIndices are indices one by one.
func encodeIndices(to []byte, indices []int32) ([]byte, error) {
	return parquet.RLEDictionary.EncodeInt32(to, indices)
}

// chunk returns a column whose values are in the dictionary.
func (d *dictionary) chunk(data []byte) chunk {
	c := chunk{entries: len(d.values), data: data, dictionary: make([]byte, 0, 8*len(d.values))}
	for _, v := range d.values {
		c.dictionary = binary.LittleEndian.AppendUint64(c.dictionary, uint64(v))
	}
	c.least, c.most = bounds(d.values)
	return c
}

// deltaChunk returns a column of integers without a dictionary.
func deltaChunk(to []byte, values []int64) (chunk, error) {
	data, err := parquet.DeltaBinaryPacked.EncodeInt64(to, values)
	c := chunk{data: data}
	c.least, c.most = bounds(values)
	return c, err
}

func bounds(values []int64) (least, most []byte) {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(low)), binary.LittleEndian.AppendUint64(nil, uint64(high))
}

// texts are a dictionary of texts.
type texts struct {
	numbers map[string]int32
	list    []string
}

func (t *texts) number(text string) int32 {
	n, known := t.numbers[text]
	if !known {
		if t.numbers == nil {
			t.numbers = map[string]int32{}
		}
		n = int32(len(t.list))
		t.numbers[text] = n
		t.list = append(t.list, text)
	}
	return n
}

// same returns a text of the list that has the same bytes; it makes no other string.
func (t *texts) same(text []byte) string {
	n, known := t.numbers[string(text)]
	if !known {
		n = t.number(string(text))
	}
	return t.list[n]
}

func (t *texts) chunk(data []byte) chunk {
	c := chunk{entries: len(t.list), data: data}
	low, high := t.list[0], t.list[0]
	for _, text := range t.list {
		c.dictionary = binary.LittleEndian.AppendUint32(c.dictionary, uint32(len(text)))
		c.dictionary = append(c.dictionary, text...)
		low, high = min(low, text), max(high, text)
	}
	c.least, c.most = []byte(low), []byte(high)
	return c
}

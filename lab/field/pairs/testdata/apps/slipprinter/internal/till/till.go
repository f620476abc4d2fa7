// Package till lays slips out in the language of the printers.
package till

import (
	"strconv"
	"sync"

	"slipprinter/internal/slip"
)

// Page is room for the commands of a slip.
type Page struct {
	b []byte
}

var pages = sync.Pool{New: func() any { return &Page{b: make([]byte, 0, 512)} }}

// Layout lays slips out.
type Layout struct {
	Width int
	Kept  bool
}

// Print lays a slip out and hands the commands to out, which may not keep them.
func (l *Layout) Print(s *slip.Slip, out func([]byte) error) error {
	p := pages.Get().(*Page)
	defer pages.Put(p)
	b := p.b[:0]
	b = append(b, 0x1b, '@', 0x1b, 'a', 1)
	b = append(b, "MARKET HALL "...)
	b = strconv.AppendInt(b, int64(s.Shop), 10)
	b = s.At.AppendFormat(append(b, '\n'), "02.01.2006 15:04")
	b = append(b, '\n', 0x1b, 'a', 0)
	for i := range s.Items {
		b = l.item(b, &s.Items[i])
	}
	sum, tax := s.Totals()
	b = money(l.pad(append(b, 0x1b, 'E', 1), "SUM", 12), sum)
	for _, rate := range [...]int{5, 8, 19} {
		b = money(l.pad(append(b, '\n'), "tax "+strconv.Itoa(rate), 12), tax[rate])
	}
	b = append(b, '\n', 0x1b, 'E', 0)
	b = raster(b, s.No)
	b = append(b, 0x1d, 'V', 66, 3)
	if l.Kept {
		p.b = b
	}
	return out(b)
}

func (l *Layout) item(b []byte, it *slip.Item) []byte {
	b = append(b, it.Code...)
	b = append(b, "\n  "...)
	b = strconv.AppendInt(b, int64(it.Count), 10)
	b = append(b, " x "...)
	b = l.pad(b, it.Name, l.Width-14)
	b = money(b, it.Cents*int64(it.Count))
	return append(b, '\n')
}

func (l *Layout) pad(b []byte, text string, width int) []byte {
	b = append(b, text...)
	for range width - len(text) {
		b = append(b, ' ')
	}
	return b
}

func money(b []byte, cents int64) []byte {
	b = strconv.AppendInt(b, cents/100, 10)
	return append(b, ',', byte('0'+cents/10%10), byte('0'+cents%10))
}

// raster draws the mark of the slip's number as a picture of 384 dots a row.
func raster(b []byte, no int64) []byte {
	const rows, row = 200, 384 / 8
	b = append(b, 0x1d, 'v', '0', 0, row, 0, rows&0xff, rows>>8)
	x := uint64(no)*0x9e3779b97f4a7c15 | 1
	var line [row]byte
	for range rows / 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		for c := range line {
			line[c] = byte(-(x >> c & 1))
		}
		for range 8 {
			b = append(b, line[:]...)
		}
	}
	return b
}

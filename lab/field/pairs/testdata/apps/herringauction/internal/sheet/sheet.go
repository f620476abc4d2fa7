// Package sheet reads delimited files with a header.
package sheet

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Sheet is a file that is being read.
type Sheet struct {
	r      *csv.Reader
	header []string
	index  map[string]int
	row    []string
	err    error
}

// Open reads the header.
func Open(r io.Reader, mapped bool) (*Sheet, error) {
	cr := csv.NewReader(r)
	cr.Comma = ';'
	cr.ReuseRecord = true
	h, err := cr.Read()
	if err != nil {
		return nil, err
	}
	s := &Sheet{r: cr, header: append([]string(nil), h...)}
	if mapped {
		s.index = make(map[string]int, len(h))
		for i, name := range s.header {
			s.index[normal(name)] = i
		}
	}
	return s, nil
}

func normal(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), " ", "_"))
}

// Next goes to the next row.
func (s *Sheet) Next() bool {
	s.row, s.err = s.r.Read()
	return s.err == nil
}

// Err returns the error that ended the reading.
func (s *Sheet) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

func (s *Sheet) column(name string) int {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return i
		}
		return -1
	}
	for i, h := range s.header {
		if normal(h) == name {
			return i
		}
	}
	return -1
}

// Text returns a field of the current row.
func (s *Sheet) Text(name string) string {
	i := s.column(name)
	if i < 0 || i >= len(s.row) {
		return ""
	}
	return s.row[i]
}

// Int returns a field as a number.
func (s *Sheet) Int(name string) (int, error) {
	n, err := strconv.Atoi(s.Text(name))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return n, nil
}

// Float returns a field as a number with decimals.
func (s *Sheet) Float(name string) (float64, error) {
	f, err := strconv.ParseFloat(s.Text(name), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

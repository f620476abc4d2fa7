// Package marc reads and writes catalogue records in a tagged text form.
package marc

import (
	"errors"
	"strconv"
	"strings"
)

type Record struct {
	Control  string
	Title    string
	Author   string
	Place    string
	Year     int
	Subjects []string
	Copies   int
}

var ErrRecord = errors.New("bad record")

// Decode reads one record of fields like "245 $a title".
func Decode(text string) (*Record, error) {
	r := new(Record)
	for line := range strings.SplitSeq(text, "\n") {
		tag, value, ok := strings.Cut(line, " $a ")
		if !ok {
			return nil, ErrRecord
		}
		switch tag {
		case "001":
			r.Control = value
		case "100":
			r.Author = value
		case "245":
			r.Title = value
		case "260":
			place, year, _ := strings.Cut(value, "|")
			n, err := strconv.Atoi(year)
			if err != nil {
				return nil, err
			}
			r.Place, r.Year = place, n
		case "650":
			r.Subjects = append(r.Subjects, value)
		case "876":
			n, err := strconv.Atoi(value)
			if err != nil {
				return nil, err
			}
			r.Copies += n
		}
	}
	return r, nil
}

// Append writes a record in the exchange form.
func (r *Record) Append(b []byte) []byte {
	put := func(tag, v string) {
		b = append(b, tag...)
		b = append(b, ' ')
		b = strconv.AppendQuote(b, v)
		b = append(b, '\n')
	}
	put("001", r.Control)
	put("100", r.Author)
	put("245", r.Title)
	put("260", r.Place)
	put("264", strconv.Itoa(r.Year))
	for _, s := range r.Subjects {
		put("650", s)
	}
	put("876", strconv.Itoa(r.Copies))
	return b
}

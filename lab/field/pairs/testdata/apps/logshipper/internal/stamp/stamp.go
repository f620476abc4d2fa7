// Package stamp reads the times that programs write in front of their lines.
package stamp

import (
	"fmt"
	"time"
)

// layouts are those that have been seen, in the order in which they were.
var layouts = []string{
	time.RFC1123Z,
	time.RFC850,
	time.ANSIC,
	time.UnixDate,
	"02/Jan/2006:15:04:05 -0700",
	"2006/01/02 15:04:05",
	"Jan _2 15:04:05 2006",
	time.RFC3339Nano,
	"2006-01-02T15:04:05.000",
	"2006-01-02 15:04:05,000",
}

// A Parser reads stamps.
type Parser struct {
	remember bool
	last     map[string]string // layout of a source
}

// NewParser makes a parser, which may remember the layout of each source.
func NewParser(remember bool) *Parser {
	return &Parser{remember: remember, last: map[string]string{}}
}

// Parse reads the stamp of a source.
func (p *Parser) Parse(source, text string) (time.Time, error) {
	if layout, ok := p.last[source]; ok && p.remember {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return p.try(source, text)
}

// try goes through all layouts.
func (p *Parser) try(source, text string) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			p.last[source] = layout
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s: no time in %q", source, text)
}

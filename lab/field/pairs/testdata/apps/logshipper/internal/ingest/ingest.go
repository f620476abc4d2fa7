// Package ingest counts lines.
package ingest

import (
	"errors"
	"strings"
	"time"

	"logshipper/internal/stamp"
)

// A Table counts lines by minute and level.
type Table struct {
	parser  *stamp.Parser
	minutes map[time.Time]int
	levels  map[string]int
}

// NewTable makes an empty table.
func NewTable(p *stamp.Parser) *Table {
	return &Table{parser: p, minutes: map[time.Time]int{}, levels: map[string]int{}}
}

// Add counts a line: its source, its stamp, its level and its text, parted by bars.
func (t *Table) Add(line string) error {
	source, rest, ok := strings.Cut(line, "|")
	if !ok {
		return errors.New("no source in " + line)
	}
	text, rest, ok := strings.Cut(rest, "|")
	if !ok {
		return errors.New("no time in " + line)
	}
	level, _, _ := strings.Cut(rest, "|")
	at, err := t.parser.Parse(source, text)
	if err != nil {
		return err
	}
	t.minutes[at.UTC().Truncate(time.Minute)]++
	t.levels[level]++
	return nil
}

// Minutes is how many minutes have lines.
func (t *Table) Minutes() int { return len(t.minutes) }

// Count is how many lines have a level.
func (t *Table) Count(level string) int { return t.levels[level] }

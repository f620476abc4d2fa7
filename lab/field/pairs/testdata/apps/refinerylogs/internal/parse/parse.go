// Package parse takes the lines of the units apart.
package parse

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Record is one line.
type Record struct {
	At     time.Time
	State  string
	Values map[string]float64
}

// Line parses one line.
func Line(text string) (Record, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return Record{}, fmt.Errorf("short line %q", text)
	}
	at, err := time.Parse(time.RFC3339Nano, fields[0])
	if err != nil {
		return Record{}, err
	}
	r := Record{At: at, Values: make(map[string]float64, len(fields))}
	for _, f := range fields[1:] {
		name, value, _ := strings.Cut(f, "=")
		if name == "state" {
			r.State = value
			continue
		}
		if r.Values[name], err = strconv.ParseFloat(value, 64); err != nil {
			return Record{}, err
		}
	}
	return r, nil
}

// Package sample makes lines as the programs of a site write them.
package sample

import (
	"fmt"
	"time"
)

var sources = []struct{ name, layout string }{
	{"billing", "2006-01-02 15:04:05,000"},
	{"gateway", "02/Jan/2006:15:04:05 -0700"},
	{"search", "2006-01-02T15:04:05.000"},
	{"mailer", "2006-01-02 15:04:05,000"},
	{"worker", time.RFC3339Nano},
}

// Lines are n lines of five sources.
func Lines(n int) []string {
	start := time.Date(2024, 5, 17, 8, 0, 0, 0, time.UTC)
	levels := []string{"INFO", "INFO", "WARN", "INFO", "ERROR", "DEBUG"}
	out := make([]string, n)
	for i := range out {
		s := sources[i%len(sources)]
		at := start.Add(time.Duration(i) * 37 * time.Millisecond)
		out[i] = fmt.Sprintf("%s|%s|%s|request %d done", s.name, at.Format(s.layout), levels[i%len(levels)], i)
	}
	return out
}

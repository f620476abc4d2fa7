package evidence

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"

	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// Programs print a runtime.MemStats as they like, and reports quote it: a field a line or
// several, "HeapIdle = 685.4 MiB", "Sys: 770162688".

var (
	memAmount = regexp.MustCompile(`\b([A-Z][A-Za-z]+)\s*[=:]\s*([0-9]+(?:\.[0-9]+)?(?:e\+?[0-9]+)?)[ \t]*([KMGT]?i?B\b|[kKMGT]?b\b|bytes\b)?`)
	memUnits  = map[string]float64{"": 1, "B": 1, "bytes": 1, "kb": 1e3, "Kb": 1e3, "KB": 1e3, "Mb": 1e6, "MB": 1e6, "Gb": 1e9, "GB": 1e9, "Tb": 1e12, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
	// memOthers are fields that no metric is made of.
	memOthers = []string{"LastGC", "GCCPUFraction", "HeapObjects", "HeapSys", "PauseTotalNs", "Lookups"}
	// memAliases are how fields are called, too.
	memAliases = map[string]string{"Alloc": "HeapAlloc", "HeapRelease": "HeapReleased"}
)

const (
	// leastMemFields is how many fields tell memory statistics from other settings.
	leastMemFields = 3
	// memLines is the part of the lines that must be of them: a log that has them among
	// others is a log.
	memLines = 0.75
)

// isMemText reports whether a text is of memory statistics that somebody printed.
func isMemText(head []byte) bool {
	if nextMark(head) >= 0 || bytes.Contains(head, gcMark) {
		return false // a profile or a dump in a log says more, and has such fields, too
	}
	fields, lines, ours := map[string]float64{}, 0, 0
	for line := range bytes.Lines(head) {
		if text := bytes.Trim(line, " \t\r\n`"); len(text) > 0 {
			lines++
			if memLine(text, fields) {
				ours++
			}
		}
	}
	return len(fields) >= leastMemFields && fields["HeapAlloc"]+fields["Sys"]+fields["HeapSys"] > 0 && float64(ours) >= memLines*float64(lines)
}

// memLine reads the fields of a line; those of the last that has them stay.
func memLine(line []byte, fields map[string]float64) (found bool) {
	for _, m := range memAmount.FindAllSubmatch(line, -1) {
		name := string(m[1])
		if alias, ok := memAliases[name]; ok {
			name = alias
		}
		unit, known := memUnits[string(m[3])]
		v, err := strconv.ParseFloat(string(m[2]), 64)
		if !isMemField(name) || !known || err != nil {
			continue
		}
		found = true
		fields[name] = v * unit
	}
	return found
}

func isMemField(name string) bool {
	return artifact.MemField(name) || slices.Contains(memOthers, name)
}

// readMemText keeps what the last lines of such a text say.
func (l *loader) readMemText(s source) error {
	p := newScrape(s)
	err := l.lines(s, func(line []byte) error {
		memLine(line, p.fields)
		return nil
	})
	if err != nil {
		return err
	}
	return l.addScrape(s, p)
}

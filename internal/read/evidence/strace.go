package evidence

import (
	"bytes"
	"regexp"
	"strconv"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The table that `strace -c` prints: calls with their number, those that failed, and the
// time that the kernel worked for them. The time that was traced it does not say.

var (
	straceHead = regexp.MustCompile(`^% time\s+seconds\s+usecs/call\s+calls\s+errors\s+syscall`)
	straceRow  = regexp.MustCompile(`^\s*[0-9.]+\s+([0-9.]+)\s+[0-9]+\s+([0-9]+)(?:\s+([0-9]+))?\s+([a-z_][a-z0-9_]*)$`)
)

func isStrace(head []byte) bool {
	for line := range bytes.Lines(head) {
		if straceHead.Match(line) {
			return true
		}
	}
	return false
}

// readStrace keeps the counts of a table, or of several.
func (l *loader) readStrace(s source) error {
	var all []*model.Counts
	err := l.lines(s, func(line []byte) error {
		if straceHead.Match(line) && len(all) < maxTables {
			all = append(all, &model.Counts{File: s.name, Tool: "strace"})
			return nil
		}
		m := straceRow.FindSubmatch(line)
		if m == nil || len(all) == 0 || string(m[4]) == "total" {
			return nil
		}
		c := all[len(all)-1]
		if len(c.Calls) < maxCounts {
			c.Calls = append(c.Calls, straceCount(m))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.addCounts(s, all)
}

// straceCount reads a row; what cannot be read of it is 0.
func straceCount(m [][]byte) model.Count {
	spent, _ := strconv.ParseFloat(string(m[1]), 64)
	n, _ := strconv.ParseInt(string(m[2]), 10, 64)
	failed, _ := strconv.ParseInt(string(m[3]), 10, 64)
	return model.Count{Name: clipName(string(m[4])), N: float64(n), Errors: min(failed, n), Time: seconds(spent)}
}

package evidence

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// What `perf stat` prints at its end: a count and an event on each line, behind "#" what
// perf makes of them, and the time that went by.
//
//	 Performance counter stats for './server':
//
//	            3,882      syscalls:sys_enter_futex         #    3.294 K/sec
//	         1,178.49 msec task-clock                       #    0.573 CPUs utilized
//
//	      2.057896219 seconds time elapsed
//
// Tracepoints of system calls are counted as those calls.

var (
	statMark  = []byte("Performance counter stats for ")
	statCount = regexp.MustCompile(`^\s*([0-9][0-9.,']*)\s+(?:(msec|ns|Joules|MiB|KiB|B)\s+)?([A-Za-z][^\s#]*)(?:\s+(?:#.*|\(.*))?$`)
	statTime  = regexp.MustCompile(`^\s*([0-9][0-9.,']*)(?:\s+\+-\s+[0-9.,]+)?\s+seconds (time elapsed|user|sys)\b`)
)

// maxCounts bounds what is kept of one output.
const maxCounts = 4096

func isPerfStat(head []byte) bool { return bytes.Contains(head, statMark) }

// readPerfStat keeps the counts. Of several outputs in one text each is one.
func (l *loader) readPerfStat(s source) error {
	var all []*model.Counts
	err := l.lines(s, func(line []byte) error {
		text := string(line)
		switch {
		case bytes.Contains(line, statMark):
			if len(all) < maxTables {
				all = append(all, &model.Counts{File: s.name, Tool: "perf stat"})
			}
		case len(all) > 0:
			statLine(all[len(all)-1], text)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.addCounts(s, all)
}

// addCounts keeps those outputs that have counts.
func (l *loader) addCounts(s source, all []*model.Counts) error {
	found := false
	for _, c := range all {
		if len(c.Calls)+len(c.Events) > 0 {
			c.Sort()
			l.m.Counts = append(l.m.Counts, c)
			found = true
		}
	}
	if !found {
		return l.pass(notEvidence(artifact.Text, s.name, nil))
	}
	l.uses++
	l.from[model.Counted] = s.name
	return nil
}

// statLine takes a line of the output.
func statLine(c *model.Counts, line string) {
	if m := statTime.FindStringSubmatch(line); m != nil {
		v, ok := statNumber(m[1])
		d := seconds(v)
		switch {
		case !ok:
		case m[2] == "time elapsed":
			c.Window = d
		case m[2] == "user": // of the whole process, which says more than the clock of an event
			c.CPU = d
		default:
			c.CPU += d
		}
		return
	}
	m := statCount.FindStringSubmatch(line)
	if m == nil || len(c.Calls)+len(c.Events) >= maxCounts {
		return
	}
	v, ok := statNumber(m[1])
	if !ok {
		return
	}
	event, _, _ := strings.Cut(m[3], ":u")
	if call, ok := strings.CutPrefix(event, "syscalls:sys_enter_"); ok {
		c.Calls = append(c.Calls, model.Count{Name: model.SyscallName(clipName(call)), N: v})
		return
	}
	if m[2] == "msec" { // of a clock
		if c.CPU == 0 && strings.HasPrefix(event, "task-clock") {
			c.CPU = seconds(v / 1000)
		}
		return
	}
	if m[2] == "" && !strings.HasPrefix(event, "syscalls:sys_exit_") {
		c.Events = append(c.Events, model.Count{Name: clipName(event), N: v})
	}
}

// statNumber reads a number with the thousands parted, as perf prints it by the locale.
func statNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.NewReplacer(",", "", "'", "").Replace(s), 64)
	return v, err == nil && v < math.MaxInt64/float64(time.Second)*1e3
}

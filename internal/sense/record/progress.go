package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// Seen is what a recording has seen of its program by now; what it does not know is
// negative.
type Seen struct {
	Bytes       int64   // recorded so far
	Cores       float64 // that the program used in the last moment
	Goroutines  int64
	Collections int64  // since the recording began
	Waiting     string // how near the memory is to the mark that is waited for; empty when none is
}

// A watcher reads what is seen from what is being written.
type watcher struct {
	r       *recorder
	before  proc.Sample
	cores   float64
	columns map[string]int // of the metrics, by name
	cycles  float64        // when it began
}

// moment is the least time that CPU time is divided by: the kernel counts it in ticks.
const moment = 500 * time.Millisecond

func (w *watcher) look() Seen {
	if w.r.box != nil { // which writes nothing until there is something to see
		return Seen{Cores: -1, Goroutines: -1, Collections: -1, Waiting: w.r.box.waiting()}
	}
	s := Seen{Bytes: w.r.bytes(), Goroutines: -1, Collections: -1}
	w.process()
	s.Cores = w.cores
	if v := w.metrics(); v != nil {
		s.Goroutines = int64(w.metric(v, "/sched/goroutines:goroutines"))
		if cycles := w.metric(v, "/gc/cycles/total:gc-cycles"); cycles >= 0 {
			if w.cycles < 0 {
				w.cycles = cycles
			}
			s.Collections = int64(cycles - w.cycles)
		}
	}
	return s
}

func (w *watcher) process() {
	var now proc.Sample
	if json.Unmarshal(lastLine(w.r.w.Path(recording.ProcMember)), &now) != nil || now.Time.IsZero() {
		return
	}
	used, in := cpuBetween(w.before, now)
	if w.before.Time.IsZero() {
		w.before = now
	} else if in >= moment {
		w.cores, w.before = used.Seconds()/in.Seconds(), now
	}
}

// metrics returns the last line of the runtime's metrics; nil while there is none.
func (w *watcher) metrics() []*float64 {
	path := w.r.w.Path(recording.MetricsMember)
	if w.columns == nil {
		f, err := os.Open(path)
		if err != nil {
			return nil
		}
		defer f.Close()
		first, err := bufio.NewReader(io.LimitReader(f, lineLimit)).ReadBytes('\n')
		var head artifact.MetricsHeader
		if err != nil || json.Unmarshal(first, &head) != nil {
			return nil
		}
		w.columns = map[string]int{}
		for i, name := range head.Scalars {
			w.columns[name] = i
		}
	}
	var line artifact.MetricsLine
	if json.Unmarshal(lastLine(path), &line) != nil {
		return nil
	}
	return line.Values
}

func (w *watcher) metric(values []*float64, name string) float64 {
	if i, ok := w.columns[name]; ok && i < len(values) && values[i] != nil {
		return *values[i]
	}
	return -1
}

// lineLimit is more than a line of these members has.
const lineLimit = 256 << 10

// lastLine returns the last whole line of a file that is being written; nil when there is none.
func lastLine(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	tail := make([]byte, min(info.Size(), lineLimit))
	if _, err := f.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return nil
	}
	end := bytes.LastIndexByte(tail, '\n')
	if end < 0 {
		return nil
	}
	return tail[bytes.LastIndexByte(tail[:end], '\n')+1 : end]
}

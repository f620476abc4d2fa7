package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// Without the agent nobody samples runtime/metrics, but a server tells some of
// them in other places: net/http/pprof's index how many goroutines there are,
// expvar the memory statistics, and where there is no expvar the heap profile
// in text form, which costs more and so is asked for twice only. They become a
// metrics log like the agent's, under the names of runtime/metrics.

// Intervals of asking. The index costs the server some 50 µs, expvar a stop of
// the world of about as long.
const (
	indexEvery  = 500 * time.Millisecond
	expvarEvery = time.Second
)

// goroutinesMetric is what the index tells; the others come from memory statistics.
const goroutinesMetric = "/sched/goroutines:goroutines"

// memFields are the statistics of one moment by the names of their fields.
type memFields map[string]float64

// A poller asks a server that has no agent, and writes a metrics log.
type poller struct {
	*fetch
	expvar string // where it is, empty when there is none
	log    *json.Encoder
	begun  func()
	lines  int
}

// poll records what a server without the agent tells of itself until the
// window ends. begun is called after the first line.
func (f *fetch) poll(w *windowRequest, member string, begun func()) error {
	file, err := os.Create(f.w.Path(member))
	if err != nil {
		return err
	}
	p := &poller{fetch: f, log: json.NewEncoder(file), begun: begun}
	err = p.run(w)
	return errors.Join(err, file.Close())
}

func (p *poller) run(w *windowRequest) error {
	ctx := w.stop
	if !w.until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(w.stop, w.until)
		defer cancel()
	}
	head := artifact.MetricsHeader{Header: artifact.Header{Kind: artifact.MetricsKind, Schema: artifact.MetricsSchema}, Scalars: []string{goroutinesMetric}}
	for _, m := range artifact.MemMetrics {
		head.Scalars = append(head.Scalars, m.Name)
	}
	if err := p.log.Encode(head); err != nil {
		return err
	}
	memory := p.findExpvar(ctx)
	if memory == nil {
		memory = p.heapText(ctx)
	}
	index := p.at.index
	tick := time.NewTicker(indexEvery)
	defer tick.Stop()
	asked := time.Now()
	for ctx.Err() == nil {
		if err := p.write(index, memory); err != nil {
			return err
		}
		p.begun()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		index, memory = p.ask(ctx, p.at.handlerURL("")), nil
		if p.expvar != "" && time.Since(asked) >= expvarEvery {
			asked = time.Now()
			memory = expvarFields(p.ask(ctx, p.expvar))
		}
	}
	if !programEnded(w.stop) {
		// The window is over, and its end is what differences are taken to.
		end, cancel := context.WithTimeout(context.WithoutCancel(w.stop), probeLimit)
		defer cancel()
		if p.expvar != "" {
			memory = expvarFields(p.ask(end, p.expvar))
		} else {
			memory = p.heapText(end)
		}
		if err := p.write(p.ask(end, p.at.handlerURL("")), memory); err != nil {
			return err
		}
	}
	if p.lines == 0 {
		return errors.New("neither its index nor expvar nor the heap profile tells any")
	}
	return nil
}

// ask returns an answer, nil when there is none.
func (p *poller) ask(ctx context.Context, url string) []byte {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	body, err := p.at.get(ctx, url, maxExpvar)
	if err != nil {
		return nil
	}
	return body
}

const maxExpvar = 8 << 20

// findExpvar looks for expvar beside the profiles and returns what it says.
func (p *poller) findExpvar(ctx context.Context) memFields {
	base, ok := strings.CutSuffix(p.at.base, "/pprof/")
	if !ok {
		return nil
	}
	beside := endpoint{base: base + "/", query: p.at.query}
	url := beside.handlerURL("vars")
	fields := expvarFields(p.ask(ctx, url))
	if fields != nil {
		p.expvar = url
	}
	return fields
}

// heapText reads the statistics at the end of the heap profile in text form.
func (p *poller) heapText(ctx context.Context) memFields {
	ctx, cancel := context.WithTimeout(ctx, min(snapshotLimit, p.patience))
	defer cancel()
	body, err := p.at.get(ctx, p.at.handlerURL("heap", "debug", "1"), maxProfileFetch)
	if err != nil {
		return nil
	}
	return heapTextFields(body)
}

// write adds a line, unless nothing is known.
func (p *poller) write(index []byte, memory memFields) error {
	line := artifact.MetricsLine{Time: p.clock.now().UnixNano(), Values: make([]*float64, 1+len(artifact.MemMetrics))}
	known := false
	set := func(i int, v float64) { line.Values[i], known = &v, true }
	if n, ok := indexGoroutines(index); ok {
		set(0, n)
	}
	for i, m := range artifact.MemMetrics {
		if v, ok := m.Value(memory); ok {
			set(1+i, v)
		}
	}
	if !known {
		return nil
	}
	p.lines++
	return p.log.Encode(line)
}

// goroutineCount is the row of net/http/pprof's index for goroutines: the
// count stands before the link.
var goroutineCount = regexp.MustCompile(`<td>(\d{1,12})</td><td><a href=['"]?goroutine\?`)

func indexGoroutines(index []byte) (float64, bool) {
	m := goroutineCount.FindSubmatch(index)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(m[1]), 64)
	return n, err == nil
}

// expvarFields reads what expvar says of memory, nil when that is nothing.
func expvarFields(body []byte) memFields {
	var vars struct {
		Memstats map[string]any `json:"memstats"`
	}
	if json.Unmarshal(body, &vars) != nil {
		return nil
	}
	fields := memFields{}
	for name, v := range vars.Memstats {
		if n, ok := v.(float64); ok {
			fields[name] = n
		}
	}
	return fields.orNil()
}

// heapTextFields reads lines like "# TotalAlloc = 123", and like "# Stack = 1 / 2", which
// is what is in use and what was taken for it.
func heapTextFields(body []byte) memFields {
	at := bytes.LastIndex(body, []byte("\n# runtime.MemStats"))
	if at < 0 {
		return nil
	}
	fields := memFields{}
	for line := range strings.Lines(string(body[at+1:])) {
		var name string
		var v float64
		var taken float64
		switch n, _ := fmt.Sscanf(line, "# %s = %g / %g", &name, &v, &taken); n {
		case 2:
			fields[name] = v
		case 3:
			fields[name+"Inuse"], fields[name+"Sys"] = v, taken
		}
	}
	return fields.orNil()
}

// orNil returns the fields when the most important one is among them.
func (f memFields) orNil() memFields {
	if _, ok := f["TotalAlloc"]; !ok {
		return nil
	}
	return f
}

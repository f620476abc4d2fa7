package export

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Chrome writes a time line in the JSON trace event format of Chrome, which
// chrome://tracing, ui.perfetto.dev and others read. The file's otherData says
// what it holds and what not.
func Chrome(w io.Writer, m *model.Model, o Options) error {
	return draw(w, m, o, func(w io.Writer, m *model.Model) canvas {
		return &chrome{m: m, w: bufio.NewWriterSize(w, 1<<16), quoted: map[string][]byte{}}
	})
}

// micros is a time in the format's unit; three digits keep the nanoseconds.
type micros time.Duration

func (d micros) MarshalJSON() ([]byte, error) { return d.append(nil), nil }

func (d micros) append(b []byte) []byte {
	u := uint64(d)
	if d < 0 {
		b, u = append(b, '-'), -u
	}
	b = strconv.AppendUint(b, u/1000, 10)
	u %= 1000
	return append(b, '.', byte('0'+u/100), byte('0'+u/10%10), byte('0'+u%10))
}

// An event is one trace event; see the format's description for the letters.
type event struct {
	Phase string         `json:"ph"`
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Pid   int            `json:"pid"`
	Tid   int64          `json:"tid"`
	Ts    micros         `json:"ts"`
	Dur   *micros        `json:"dur,omitempty"`
	ID    string         `json:"id,omitempty"`
	Args  map[string]any `json:"args,omitempty"` // json sorts the keys
}

// chrome is a canvas of JSON events. A group of tracks is a process, a track a thread.
type chrome struct {
	m      *model.Model
	w      *bufio.Writer
	count  int
	err    error
	quoted map[string][]byte // names of runs as JSON
}

func (c *chrome) broken() bool { return c.err != nil }

func (c *chrome) emit(e event) {
	if c.err != nil {
		return
	}
	data, err := json.Marshal(e)
	if err != nil {
		c.err = err
		return
	}
	if c.count++; c.count > 1 {
		c.w.WriteString(",\n")
	}
	if _, err := c.w.Write(data); err != nil {
		c.err = err
	}
}

func object(args []arg) map[string]any {
	o := map[string]any{}
	for _, a := range args {
		o[a.name] = a.value
	}
	return o
}

func (c *chrome) about(facts []arg) {
	about, err := json.Marshal(object(facts))
	c.err = err
	fmt.Fprintf(c.w, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[\n", about)
}

func (c *chrome) end() error {
	c.w.WriteString("\n]}\n")
	if c.err != nil {
		return c.err
	}
	return c.w.Flush()
}

func (c *chrome) group(group int, name string) { c.name("process_name", group, 0, name) }

func (c *chrome) track(group int, id int64, name string) { c.name("thread_name", group, id, name) }

func (c *chrome) name(what string, pid int, tid int64, name string) {
	c.emit(event{Phase: "M", Name: what, Pid: pid, Tid: tid, Args: map[string]any{"name": name}})
}

func (c *chrome) counter(name, _ string, at time.Duration, values []arg) {
	c.emit(event{Phase: "C", Name: name, Pid: rowsProgram, Ts: micros(at), Args: object(values)})
}

func (c *chrome) span(group int, id int64, name, category string, begin, end time.Duration, args []arg) {
	dur := micros(end - begin)
	c.emit(event{Phase: "X", Name: name, Cat: category, Pid: group, Tid: id, Ts: micros(begin), Dur: &dur, Args: object(args)})
}

func (c *chrome) task(id uint64, name string, begin, end time.Duration, args []arg) {
	e := event{Phase: "b", Name: name, Cat: "task", Pid: rowsProgram, Ts: micros(begin), ID: strconv.FormatUint(id, 10), Args: object(args)}
	c.emit(e)
	e.Phase, e.Args, e.Ts = "e", nil, micros(end)
	c.emit(e)
}

// goSlice is written by hand: encoding/json takes ten times as long.
func (c *chrome) goSlice(group int, id int64, s Slice) {
	b := c.w.AvailableBuffer()
	if c.count++; c.count > 1 {
		b = append(b, ",\n"...)
	}
	b = append(b, `{"ph":"X","name":`...)
	b = append(b, c.quote(s.Name)...)
	b = append(b, `,"pid":`...)
	b = strconv.AppendInt(b, int64(group), 10)
	b = append(b, `,"tid":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"ts":`...)
	b = micros(s.Begin).append(b)
	b = append(b, `,"dur":`...)
	b = micros(s.End - s.Begin).append(b)
	b = append(b, `,"args":{"goroutine":`...)
	b = strconv.AppendInt(b, s.Goroutine, 10)
	if s.Stack != 0 {
		names, err := json.Marshal(stackNames(c.m, s.Stack))
		c.err = cmp.Or(c.err, err)
		b = append(append(b, `,"stack":`...), names...)
	}
	b = append(b, "}}"...)
	if _, err := c.w.Write(b); err != nil {
		c.err = cmp.Or(c.err, err)
	}
}

// quote makes JSON of names, of each only once.
func (c *chrome) quote(name string) []byte {
	q, ok := c.quoted[name]
	if !ok {
		q = quote(name)
		c.quoted[name] = q
	}
	return q
}

// quote returns a name as JSON.
func quote(name string) []byte {
	q, _ := json.Marshal(plain(name)) // a string's encoding cannot fail
	return q
}

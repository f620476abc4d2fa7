// Package exposition writes metrics in the text format that Prometheus reads.
//
// It hides what stands before the values of a metric, and which characters of a label are
// escaped, which are fewer than Go escapes. It keeps no values.
package exposition

import (
	"fmt"
	"io"
	"strings"
)

// A Metric has been begun: its values can be written.
type Metric struct {
	w    io.Writer
	name string
}

// Counter begins a metric whose values only rise.
func Counter(w io.Writer, name, help string) Metric { return begin(w, "counter", name, help) }

// Gauge begins a metric whose values rise and fall.
func Gauge(w io.Writer, name, help string) Metric { return begin(w, "gauge", name, help) }

// Histogram begins a metric whose values are those of its parts.
func Histogram(w io.Writer, name, help string) Metric { return begin(w, "histogram", name, help) }

func begin(w io.Writer, kind, name, help string) Metric {
	fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s %[3]s\n", name, help, kind)
	return Metric{w, name}
}

// Part returns a part of a histogram: _bucket, _sum or _count.
func (m Metric) Part(suffix string) Metric { return Metric{m.w, m.name + suffix} }

// Int writes a value with its labels, names and values in turn.
func (m Metric) Int(n int64, labels ...string) { m.value(n, labels) }

// Float writes a value with its labels, names and values in turn.
func (m Metric) Float(x float64, labels ...string) { m.value(x, labels) }

func (m Metric) value(v any, labels []string) {
	var b strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.WriteString(labels[i] + `="` + escaped.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD")) + `"`)
	}
	if b.Len() > 0 {
		b.WriteByte('}')
	}
	fmt.Fprintf(m.w, "%s%s %v\n", m.name, &b, v)
}

var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Package telemetry writes the values of machines as lines of text.
package telemetry

import (
	"fmt"
	"strconv"
	"strings"
)

// A Point is what a machine measured.
type Point struct {
	Machine       int
	Metric        string
	Value         float64
	Milliseconds  int64
	Failed, Stale bool
}

// An Encoder makes a line of a point.
type Encoder interface {
	Encode(dst []byte, p *Point) []byte
}

// Formatted encodes field by field.
type Formatted struct{}

// Encode appends a point's line.
func (Formatted) Encode(dst []byte, p *Point) []byte {
	fields := []string{
		fmt.Sprintf("machine=%d", p.Machine),
		fmt.Sprintf("metric=%s", p.Metric),
		fmt.Sprintf("value=%s", fmt.Sprint(p.Value)),
		fmt.Sprintf("failed=%v", p.Failed),
		fmt.Sprintf("stale=%v", p.Stale),
		fmt.Sprintf("at=%d", p.Milliseconds),
	}
	return append(dst, strings.Join(fields, " ")+"\n"...)
}

// Appended encodes into the buffer of the batch.
type Appended struct{}

// Encode appends a point's line.
func (Appended) Encode(dst []byte, p *Point) []byte {
	dst = strconv.AppendInt(append(dst, "machine="...), int64(p.Machine), 10)
	dst = append(append(dst, " metric="...), p.Metric...)
	dst = strconv.AppendFloat(append(dst, " value="...), p.Value, 'g', -1, 64)
	dst = strconv.AppendBool(append(dst, " failed="...), p.Failed)
	dst = strconv.AppendBool(append(dst, " stale="...), p.Stale)
	dst = strconv.AppendInt(append(dst, " at="...), p.Milliseconds, 10)
	return append(dst, '\n')
}

// Batch encodes points into a buffer.
func Batch(dst []byte, e Encoder, points []Point) []byte {
	for i := range points {
		dst = e.Encode(dst, &points[i])
	}
	return dst
}

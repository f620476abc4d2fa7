package exectrace

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// writeText writes a trace of Go 1.22 or later in the text form that
// [corpus.ParseText] reads, damage included. New files of testdata/text come from it.
func writeText(w io.Writer, data []byte) error {
	bw := bufio.NewWriter(w)
	x := &textWriter{w: bw, data: data}
	if minor := parseHeader(data); minor != 0 && fmt.Sprintf("go 1.%d trace\x00\x00\x00", minor) == string(data[:headerSize]) {
		fmt.Fprintf(bw, "Trace Go1.%d\n", minor)
		x.pos = headerSize
	}
	for x.pos < len(data) {
		x.batch()
	}
	return bw.Flush()
}

// A textWriter walks over the bytes of a trace.
type textWriter struct {
	w       *bufio.Writer
	data    []byte
	pos     int
	gen     uint64   // of the comments
	strings []string // of the generation
	stacks  []string // what to say of a stack
}

// batch writes the batch at pos, or what is there instead of one.
func (x *textWriter) batch() {
	b := x.data[x.pos:]
	h, ok := parseBatchHeader(b)
	switch {
	case !ok:
		w := walker{number: x.gen}
		end := 1
		for end < len(b) && !w.plausible(b[end:], 0) {
			end++
		}
		x.hex(x.pos + end)
		return
	case h.endOfGen:
		fmt.Fprintln(x.w, specs[evEndOfGeneration].name)
		x.pos++
		return
	}
	if h.gen != x.gen {
		x.comments(h.gen)
	}
	spec := &specs[b[0]]
	fmt.Fprint(x.w, spec.name)
	x.pos++
	names := spec.args
	if h.experiment {
		fmt.Fprintf(x.w, " exp=%d", b[1])
		x.pos++
		names = names[1:]
	}
	for _, n := range names {
		x.arg(n)
	}
	fmt.Fprintln(x.w)
	end := min(x.pos+h.body, len(x.data))
	if h.experiment {
		x.hex(end)
		return
	}
	for x.pos < end && x.item(end) {
	}
	x.hex(end)
}

// item writes the event or table entry at pos, if it is one and ends by end.
func (x *textWriter) item(end int) bool {
	start := x.pos
	typ := eventType(x.data[x.pos])
	spec := &specs[typ]
	if spec.name == "" || typ == evEventBatch || typ == evExperimentalBatch || typ == evEndOfGeneration {
		return false
	}
	// Everything is looked at before anything is written.
	args := make([]uint64, 0, 8)
	i := x.pos + 1
	for range spec.args {
		var v uint64
		if v, i = uvarint(x.data[:end], i); i < 0 {
			return false
		}
		args = append(args, v)
	}
	after := i
	switch typ {
	case evString:
		n, j := uvarint(x.data[:end], i)
		if j < 0 || n > uint64(end-j) || j-i != uvarintSize(n) {
			return false
		}
		after = j + int(n)
	case evStack:
		if args[1] > uint64(end-i) {
			return false
		}
		for range 4 * args[1] {
			if _, after = uvarint(x.data[:end], after); after < 0 {
				return false
			}
		}
	}
	fmt.Fprint(x.w, spec.name)
	x.pos = start + 1
	for _, n := range spec.args {
		x.arg(n)
	}
	x.remark(typ, args)
	fmt.Fprintln(x.w)
	switch typ {
	case evString:
		_, j := uvarint(x.data, x.pos)
		fmt.Fprintf(x.w, "\tdata=%q\n", x.data[j:after])
		x.pos = after
	case evStack:
		for range args[1] {
			x.frame()
		}
	}
	return true
}

// arg writes the number at pos with its name.
func (x *textWriter) arg(name string) {
	v, next := uvarint(x.data, x.pos)
	fmt.Fprintf(x.w, " %s=%d", name, v)
	if n := next - x.pos; n != uvarintSize(v) {
		fmt.Fprintf(x.w, "/%d", n)
	}
	x.pos = next
}

func (x *textWriter) frame() {
	fmt.Fprint(x.w, "\t")
	var v [4]uint64
	at := x.pos
	for k := range v {
		v[k], at = uvarint(x.data, at)
	}
	var line strings.Builder
	w := x.w
	x.w = bufio.NewWriter(&line)
	for _, n := range []string{"pc", "func", "file", "line"} {
		x.arg(n)
	}
	x.w.Flush()
	x.w = w
	fmt.Fprint(x.w, strings.TrimPrefix(line.String(), " "))
	if name := x.str(v[1]); name != "" {
		fmt.Fprintf(x.w, " # %s %s:%d", unquoted(name), unquoted(x.str(v[2])), v[3])
	}
	fmt.Fprintln(x.w)
}

// remark writes what the numbers of an event stand for.
func (x *textWriter) remark(typ eventType, args []uint64) {
	var words []string
	for i, n := range specs[typ].args {
		switch {
		case strings.HasSuffix(n, "_string"):
			if s := x.str(args[i]); s != "" {
				words = append(words, strconv.Quote(s))
			}
		case n == "stack" || n == "new_stack":
			if args[i] < uint64(len(x.stacks)) && x.stacks[args[i]] != "" {
				words = append(words, "at "+x.stacks[args[i]])
			}
		}
	}
	if len(words) > 0 {
		fmt.Fprint(x.w, " # ", strings.Join(words, " "))
	}
}

func (x *textWriter) str(id uint64) string {
	if id < uint64(len(x.strings)) {
		return x.strings[id]
	}
	return ""
}

// unquoted escapes what could disturb a line.
func unquoted(s string) string {
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// comments reads the tables of a generation ahead, for remarks.
func (x *textWriter) comments(gen uint64) {
	x.gen = gen
	g := &generation{}
	for pos := x.pos; pos < len(x.data); {
		h, ok := parseBatchHeader(x.data[pos:])
		if !ok || h.endOfGen || h.gen != gen {
			break
		}
		pos += g.add(h, x.data[pos:])
	}
	t := newEventTables(g)
	x.strings = t.names
	x.stacks = make([]string, len(t.stacks))
	for i := range t.stacks {
		if fs := t.stack(uint32(i)); len(fs) > 0 {
			x.stacks[i] = unquoted(t.word(uint64(fs[0].fn)))
		}
	}
}

// hex writes the bytes from pos to end as they are.
func (x *textWriter) hex(end int) {
	for x.pos < end {
		n := min(end-x.pos, 32)
		fmt.Fprintf(x.w, "Hex %x\n", x.data[x.pos:x.pos+n])
		x.pos += n
	}
}

// uvarintSize returns how many bytes a number needs.
func uvarintSize(v uint64) int { return len(binary.AppendUvarint(nil, v)) }

package exectrace

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The text form has a line for each thing on the wire, in the order it is
// there. It exists so that small traces can be written, read and reviewed:
//
//	Trace Go1.26
//	EventBatch gen=1 m=7 time=100 size=12
//	ProcStatus dt=1 p=0 pstatus=1
//	GoBlock dt=3 reason_string=1 stack=2 # "chan receive" at main.main
//	EventBatch gen=1 m=18446744073709551615 time=200 size=15
//	Strings
//	String id=1
//		data="chan receive"
//	EndOfGeneration
//
// It keeps to the form that the Go project writes its own test traces in,
// and reads those. In addition, so that nothing gets lost:
//
//   - a number that takes more bytes than it needs is written value/bytes;
//     the runtime pads the sizes of batches so;
//   - "Hex" and pairs of hexadecimal digits stand for bytes that mean nothing;
//   - everything from # on is a comment;
//   - a batch may go without its size, which is then that of its contents.

// textFrame are the fields of a stack frame.
var textFrame = []string{"pc", "func", "file", "line"}

// WriteText writes a trace of Go 1.22 or later as text. [ParseText] turns the
// text into the same bytes again, damage included. The whole trace is held in
// memory.
func WriteText(w io.Writer, t *Trace) error {
	if t.old() {
		return errors.New("traces of Go 1.21 and older have no text form")
	}
	data, err := io.ReadAll(t.raw())
	if err != nil {
		return err
	}
	return writeText(w, data)
}

func writeText(w io.Writer, data []byte) error {
	bw := bufio.NewWriter(w)
	x := &textWriter{w: bw, data: data}
	if minor := parseHeader(data); minor != 0 && header(minor) == string(data[:headerSize]) {
		fmt.Fprintf(bw, "Trace Go1.%d\n", minor)
		x.pos = headerSize
	}
	for x.pos < len(data) {
		x.batch()
	}
	return bw.Flush()
}

// header returns the first bytes of a trace.
func header(minor int) string { return fmt.Sprintf("go 1.%d trace\x00\x00\x00", minor) }

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
		if j < 0 || n > uint64(end-j) || j-i != len(appendUvarint(nil, n, 0)) {
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
	if n := next - x.pos; n != len(appendUvarint(nil, v, 0)) {
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
	for _, n := range textFrame {
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

// appendUvarint appends a number in at least width bytes.
func appendUvarint(b []byte, v uint64, width int) []byte {
	for n := 1; v >= 0x80 || n < width; n++ {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// ParseText reads the text form and returns the trace that it describes, for
// [NewReaderAt]. An error names the line. What the trace says is not checked:
// text can describe any damage.
func ParseText(r io.Reader) ([]byte, error) {
	p := &textParser{s: bufio.NewScanner(r), names: textNames()}
	p.s.Buffer(make([]byte, 4096), 16<<20)
	for p.next() {
		if err := p.line(); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.n, err)
		}
	}
	if err := p.s.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.n+1, err)
	}
	p.flush()
	return p.out, nil
}

// textNames maps the names of events to their types.
func textNames() map[string]eventType {
	m := map[string]eventType{}
	for t, s := range specs {
		if s.name != "" {
			m[s.name] = eventType(t)
		}
	}
	return m
}

// A textParser turns lines into bytes.
type textParser struct {
	s     *bufio.Scanner
	names map[string]eventType
	n     int    // of the line
	text  string // of the line, without comment
	name  string
	args  []textArg

	out  []byte
	open bool // a batch whose size is that of body
	head []byte
	body []byte
}

type textArg struct {
	name  string
	value uint64
	width int
}

// next goes to the next line that says something.
func (p *textParser) next() bool {
	for p.s.Scan() {
		p.n++
		p.text, _, _ = strings.Cut(p.s.Text(), "#")
		if strings.TrimSpace(p.text) != "" {
			return true
		}
	}
	return false
}

func (p *textParser) append(b ...byte) {
	if p.open {
		p.body = append(p.body, b...)
	} else {
		p.out = append(p.out, b...)
	}
}

// flush ends the batch that has no size of its own.
func (p *textParser) flush() {
	if !p.open {
		return
	}
	p.open = false
	p.out = append(p.out, p.head...)
	p.out = appendUvarint(p.out, uint64(len(p.body)), 0)
	p.out = append(p.out, p.body...)
	p.body = p.body[:0]
}

// line parses a line and those that belong to it.
func (p *textParser) line() error {
	fields := strings.Fields(p.text)
	switch p.name = fields[0]; p.name {
	case "Trace":
		return p.header(fields[1:])
	case "Hex":
		b, err := hex.DecodeString(strings.Join(fields[1:], ""))
		p.append(b...)
		return err
	}
	typ, ok := p.names[p.name]
	if !ok {
		return fmt.Errorf("unknown event %q", p.name)
	}
	var err error
	if p.args, err = parseArgs(fields[1:]); err != nil {
		return err
	}
	switch typ {
	case evEventBatch, evExperimentalBatch:
		return p.batch(typ)
	case evEndOfGeneration:
		p.flush()
	}
	if err := p.want(specs[typ].args); err != nil {
		return err
	}
	p.append(byte(typ))
	for _, a := range p.args {
		p.append(appendUvarint(nil, a.value, a.width)...)
	}
	switch typ {
	case evString:
		return p.data(true)
	case evStack:
		return p.frames(p.args[1].value)
	}
	return nil
}

func (p *textParser) header(fields []string) error {
	if len(fields) != 1 || !strings.HasPrefix(fields[0], "Go1.") {
		return errors.New(`want "Trace Go1.NN"`)
	}
	minor, err := strconv.ParseUint(fields[0][len("Go1."):], 10, 7)
	if err != nil || minor < 10 || minor > 99 {
		return fmt.Errorf("invalid version %q", fields[0])
	}
	p.flush()
	p.append([]byte(header(int(minor)))...)
	return nil
}

// batch begins a batch.
func (p *textParser) batch(typ eventType) error {
	p.flush()
	names := specs[typ].args
	sized := len(p.args) == len(names)
	if !sized {
		names = names[:len(names)-1]
	}
	if err := p.want(names); err != nil {
		return err
	}
	p.head = append(p.head[:0], byte(typ))
	args := p.args
	if typ == evExperimentalBatch {
		if args[0].value > 255 {
			return fmt.Errorf("invalid experiment %d", args[0].value)
		}
		p.head = append(p.head, byte(args[0].value))
		args = args[1:]
	}
	for _, a := range args {
		p.head = appendUvarint(p.head, a.value, a.width)
	}
	if sized {
		p.append(p.head...)
		return nil
	}
	p.open = true
	if typ == evExperimentalBatch {
		return p.data(false)
	}
	return nil
}

// want checks the names of the arguments.
func (p *textParser) want(names []string) error {
	if len(p.args) != len(names) {
		return fmt.Errorf("%s has the arguments %v", p.name, names)
	}
	for i, n := range names {
		if p.args[i].name != n {
			return fmt.Errorf("argument %d of %s is %s, not %q", i+1, p.name, n, p.args[i].name)
		}
	}
	return nil
}

// parseArgs parses fields like p=3 or size=15/10.
func parseArgs(fields []string) ([]textArg, error) {
	args := make([]textArg, 0, len(fields))
	for _, f := range fields {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return nil, fmt.Errorf("%q is no name=number", f)
		}
		a := textArg{name: name}
		value, width, padded := strings.Cut(value, "/")
		var err error
		if a.value, err = strconv.ParseUint(value, 10, 64); err != nil {
			return nil, fmt.Errorf("%q is no name=number", f)
		}
		if padded {
			n, err := strconv.ParseUint(width, 10, 8)
			if err != nil || n > 10 {
				return nil, fmt.Errorf("%q: a number takes at most 10 bytes", f)
			}
			a.width = int(n)
		}
		args = append(args, a)
	}
	return args, nil
}

// data parses a line with a quoted string, which is appended with its length
// before it if asked for.
func (p *textParser) data(length bool) error {
	for p.s.Scan() {
		p.n++
		text := strings.TrimSpace(p.s.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		quoted, ok := strings.CutPrefix(text, "data=")
		if !ok {
			break
		}
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return fmt.Errorf("data is no quoted string: %w", err)
		}
		if length {
			p.append(appendUvarint(nil, uint64(len(s)), 0)...)
		}
		p.append([]byte(s)...)
		return nil
	}
	return fmt.Errorf("%s must be followed by a line data=\"…\"", p.name)
}

// frames parses the frames of a stack.
func (p *textParser) frames(n uint64) error {
	for range n {
		if !p.next() {
			return errors.New("the text ends inside of a stack")
		}
		var err error
		p.name = "a frame"
		if p.args, err = parseArgs(strings.Fields(p.text)); err != nil {
			return err
		}
		if err := p.want(textFrame); err != nil {
			return err
		}
		for _, a := range p.args {
			p.append(appendUvarint(nil, a.value, a.width)...)
		}
	}
	return nil
}

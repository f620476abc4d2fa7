package corpus

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
const textFrame = "pc func file line"

// A textEvent is the type of an event and the names of its arguments, in the
// order of the wire.
type textEvent struct {
	typ  Type
	args string
}

// textEvents are the events by name. Those from 128 on are of experiment 1, AllocFree.
var textEvents = map[string]textEvent{
	"EventBatch":          {EventBatch, "gen m time size"},
	"Stacks":              {Stacks, ""},
	"Stack":               {Stack, "id nframes"},
	"Strings":             {Strings, ""},
	"String":              {String, "id"},
	"CPUSamples":          {CPUSamples, ""},
	"CPUSample":           {CPUSample, "time m p g stack"},
	"Frequency":           {Frequency, "freq"},
	"ProcsChange":         {ProcsChange, "dt procs_value stack"},
	"ProcStart":           {ProcStart, "dt p p_seq"},
	"ProcStop":            {ProcStop, "dt"},
	"ProcSteal":           {ProcSteal, "dt p p_seq m"},
	"ProcStatus":          {ProcStatus, "dt p pstatus"},
	"GoCreate":            {GoCreate, "dt new_g new_stack stack"},
	"GoCreateSyscall":     {GoCreateSys, "dt new_g"},
	"GoStart":             {GoStart, "dt g g_seq"},
	"GoDestroy":           {GoDestroy, "dt"},
	"GoDestroySyscall":    {GoDestroySys, "dt"},
	"GoStop":              {GoStop, "dt reason_string stack"},
	"GoBlock":             {GoBlock, "dt reason_string stack"},
	"GoUnblock":           {GoUnblock, "dt g g_seq stack"},
	"GoSyscallBegin":      {SyscallBegin, "dt p_seq stack"},
	"GoSyscallEnd":        {SyscallEnd, "dt"},
	"GoSyscallEndBlocked": {SyscallLost, "dt"},
	"GoStatus":            {GoStatus, "dt g m gstatus"},
	"STWBegin":            {STWBegin, "dt kind_string stack"},
	"STWEnd":              {STWEnd, "dt"},
	"GCActive":            {GCActive, "dt gc_seq"},
	"GCBegin":             {GCBegin, "dt gc_seq stack"},
	"GCEnd":               {GCEnd, "dt gc_seq"},
	"GCSweepActive":       {SweepActive, "dt p"},
	"GCSweepBegin":        {SweepBegin, "dt stack"},
	"GCSweepEnd":          {SweepEnd, "dt swept_value reclaimed_value"},
	"GCMarkAssistActive":  {AssistActive, "dt g"},
	"GCMarkAssistBegin":   {AssistBegin, "dt stack"},
	"GCMarkAssistEnd":     {AssistEnd, "dt"},
	"HeapAlloc":           {HeapAlloc, "dt heapalloc_value"},
	"HeapGoal":            {HeapGoal, "dt heapgoal_value"},
	"GoLabel":             {GoLabel, "dt label_string"},
	"UserTaskBegin":       {TaskBegin, "dt task parent_task name_string stack"},
	"UserTaskEnd":         {TaskEnd, "dt task stack"},
	"UserRegionBegin":     {RegionBegin, "dt task name_string stack"},
	"UserRegionEnd":       {RegionEnd, "dt task name_string stack"},
	"UserLog":             {UserLog, "dt task key_string value_string stack"},
	"GoSwitch":            {GoSwitch, "dt g g_seq"},
	"GoSwitchDestroy":     {GoSwitchEnd, "dt g g_seq"},
	"GoCreateBlocked":     {CreateBlockd, "dt new_g new_stack stack"},
	"GoStatusStack":       {StatusStack, "dt g m gstatus stack"},
	"ExperimentalBatch":   {Experimental, "exp gen m time size"},
	"Sync":                {Sync, ""},
	"ClockSnapshot":       {Clock, "dt mono sec nsec"},
	"EndOfGeneration":     {EndOfGen, ""},
	"Span":                {128, "dt id npages_value kindclass"},
	"SpanAlloc":           {129, "dt id npages_value kindclass"},
	"SpanFree":            {130, "dt id"},
	"HeapObject":          {131, "dt id type"},
	"HeapObjectAlloc":     {132, "dt id type"},
	"HeapObjectFree":      {133, "dt id"},
	"GoroutineStack":      {134, "dt id order"},
	"GoroutineStackAlloc": {135, "dt id order"},
	"GoroutineStackFree":  {136, "dt id"},
}

// ParseText reads the text form and returns the trace that it describes. An
// error names the line. What the trace says is not checked: text can describe
// any damage.
func ParseText(r io.Reader) ([]byte, error) {
	p := &textParser{s: bufio.NewScanner(r)}
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

// A textParser turns lines into bytes.
type textParser struct {
	s    *bufio.Scanner
	n    int    // of the line
	text string // of the line, without comment
	name string
	args []textArg

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
	event, ok := textEvents[p.name]
	if !ok {
		return fmt.Errorf("unknown event %q", p.name)
	}
	var err error
	if p.args, err = parseArgs(fields[1:]); err != nil {
		return err
	}
	switch event.typ {
	case EventBatch, Experimental:
		return p.batch(event)
	case EndOfGen:
		p.flush()
	}
	if err := p.want(strings.Fields(event.args)); err != nil {
		return err
	}
	p.append(byte(event.typ))
	for _, a := range p.args {
		p.append(appendUvarint(nil, a.value, a.width)...)
	}
	switch event.typ {
	case String:
		return p.data(true)
	case Stack:
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
	p.append(header(int(minor))...)
	return nil
}

// batch begins a batch.
func (p *textParser) batch(event textEvent) error {
	p.flush()
	names := strings.Fields(event.args)
	sized := len(p.args) == len(names)
	if !sized {
		names = names[:len(names)-1]
	}
	if err := p.want(names); err != nil {
		return err
	}
	p.head = append(p.head[:0], byte(event.typ))
	args := p.args
	if event.typ == Experimental {
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
	if event.typ == Experimental {
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
		if err := p.want(strings.Fields(textFrame)); err != nil {
			return err
		}
		for _, a := range p.args {
			p.append(appendUvarint(nil, a.value, a.width)...)
		}
	}
	return nil
}

// appendUvarint appends a number in at least width bytes.
func appendUvarint(b []byte, v uint64, width int) []byte {
	for n := 1; v >= 0x80 || n < width; n++ {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

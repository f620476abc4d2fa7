package timeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// A Filter chooses goroutines and what they did:
//
//	func:worker          started by a function whose name has this part; a word alone means the same,
//	                     or where no such goroutine is there, stack:
//	state:waiting        running, runnable, syscall, sync, net, wait, gc, unknown; waiting is sync, net or wait
//	reason:"chan receive"
//	stack:ReadFile       a function on the stack
//	label:x
//	dur>10ms             of one stretch of time; of the life, where there are only goroutines; also < >= <=
//	id:17                or id:10-20
//
// Terms are joined by "and", those beginning with - must not hold, and a
// comma in a value means "or". Upper and lower case are the same.
type Filter struct {
	text  string
	terms []term
}

type termKind uint8

const (
	termFunc termKind = 1 << iota
	termState
	termReason
	termStack
	termLabel
	termDur
	termID
)

var termKinds = map[string]termKind{
	"func": termFunc, "group": termFunc, "state": termState, "reason": termReason,
	"stack": termStack, "label": termLabel, "dur": termDur, "id": termID,
}

// A term is one condition.
type term struct {
	kind   termKind
	not    bool
	plain  bool     // a word without what it is about
	text   string   // as it was written, for messages
	parts  []string // lower case, one of which must match
	states uint8    // a bit for each
	lo, hi int64    // of an id or duration, both included
}

// maxFilter bounds a filter's text.
const maxFilter = 1 << 12

const filterHint = `like func:worker state:waiting reason:"chan receive" stack:ReadFile dur>10ms -id:17`

// ParseFilter reads a filter; the empty one matches everything.
func ParseFilter(text string) (Filter, error) {
	f := Filter{text: text}
	if len(text) > maxFilter {
		return f, problem.New(problem.Misuse, filterHint, "the filter is %d bytes long, at most %d are read", len(text), maxFilter)
	}
	p := parser{text: text}
	for {
		p.space()
		if p.at == len(text) {
			return f, nil
		}
		t, err := p.term()
		if err != nil {
			return Filter{}, err
		}
		f.terms = append(f.terms, t)
	}
}

// onStacks returns the filter that looks for plain words in the functions on stacks,
// and not only in start functions; ok when there are such words.
func (f Filter) onStacks() (deep Filter, ok bool) {
	words := make([]string, len(f.terms))
	for i, t := range f.terms {
		words[i] = t.text
		if t.plain && !t.not {
			words[i], ok = "stack:"+t.text, true
		}
	}
	if !ok {
		return f, false
	}
	deep, err := ParseFilter(strings.Join(words, " "))
	return deep, err == nil
}

// Empty reports whether everything matches.
func (f Filter) Empty() bool { return len(f.terms) == 0 }

// String returns the text that was parsed.
func (f Filter) String() string { return f.text }

type parser struct {
	text string
	at   int
}

func (p *parser) fail(at int, hint, format string, args ...any) error {
	return problem.New(problem.Misuse, hint, "at character %d: %s", utf8.RuneCountInString(p.text[:at])+1, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if !unicode.IsSpace(r) {
			return
		}
		p.at += n
	}
}

// term reads one condition.
func (p *parser) term() (t term, err error) {
	start := p.at
	if p.text[p.at] == '-' {
		t.not = true
		p.at++
	}
	key, op := p.key()
	if op == "" { // a plain word
		t.kind, t.plain = termFunc, true
	} else if t.kind = termKinds[key]; t.kind == 0 {
		return t, p.fail(start, "func, state, reason, stack, label, dur and id are known", "%q is nothing to ask for", key)
	}
	if op != "" && op != ":" && op != "=" && t.kind != termDur && t.kind != termID {
		return t, p.fail(start, key+":…", "%s cannot be compared with %s", key, op)
	}
	at := p.at
	t.parts, err = p.values()
	if err != nil {
		return t, err
	}
	t.text = p.text[start:p.at]
	if len(t.parts) == 0 {
		return t, p.fail(at, filterHint, "a value is missing")
	}
	return t, p.finish(&t, op, at)
}

// key reads a word and the operator that follows it; without an operator it
// reads nothing.
func (p *parser) key() (key, op string) {
	i := p.at
	for i < len(p.text) && p.text[i] >= 'a' && p.text[i] <= 'z' {
		i++
	}
	if i == p.at || i == len(p.text) || !strings.ContainsRune(":=<>", rune(p.text[i])) {
		return "", ""
	}
	key = p.text[p.at:i]
	op = p.text[i : i+1]
	if (op == "<" || op == ">") && i+1 < len(p.text) && p.text[i+1] == '=' {
		op += "="
	}
	p.at = i + len(op)
	return key, op
}

// values reads words joined by commas, quoted or not. A comma inside of
// brackets belongs to a name.
func (p *parser) values() (out []string, err error) {
	var b strings.Builder
	depth := 0
	done := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		switch {
		case r == '"':
			if err := p.quoted(&b); err != nil {
				return nil, err
			}
			continue
		case unicode.IsSpace(r):
			done()
			return out, nil
		case r == ',' && depth == 0:
			done()
		default:
			if r == '[' {
				depth++
			} else if r == ']' && depth > 0 {
				depth--
			}
			b.WriteString(p.text[p.at : p.at+n])
		}
		p.at += n
	}
	done()
	return out, nil
}

// quoted reads what is in quotation marks; \" and \\ stand for themselves.
func (p *parser) quoted(b *strings.Builder) error {
	start := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			b.WriteByte(c)
		}
	}
	return p.fail(start, `end it with "`, "the quotation does not end")
}

// finish understands the values of a term.
func (p *parser) finish(t *term, op string, at int) error {
	switch t.kind {
	case termState:
		for _, s := range t.parts {
			switch st, ok := StateOf(s); {
			case ok:
				t.states |= 1 << st
			case s == "waiting" || s == "blocked":
				t.states |= 1<<Sync | 1<<Net | 1<<Wait
			default:
				return p.fail(at, strings.Join(StateNames(), ", ")+" and waiting are states", "there is no state %q", s)
			}
		}
	case termDur:
		d, err := time.ParseDuration(t.parts[0])
		if err != nil || len(t.parts) > 1 || d < 0 {
			return p.fail(at, "dur>10ms, dur<1.5s", "%q is no duration", strings.Join(t.parts, ","))
		}
		t.bound(op, int64(d), true)
	case termID:
		first, last, isRange := strings.Cut(t.parts[0], "-")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil || n < 0 || len(t.parts) > 1 || isRange && op != ":" && op != "=" {
			return p.fail(at, "id:17, id:10-20, id>1000", "%q is no number of a goroutine", strings.Join(t.parts, ","))
		}
		t.bound(op, n, false)
		if isRange {
			if t.hi, err = strconv.ParseInt(last, 10, 64); err != nil {
				return p.fail(at, "id:10-20", "%q is no range of goroutines", t.parts[0])
			}
		}
	}
	return nil
}

// bound sets the range that a comparison leaves. Durations are at least what
// is written after a colon.
func (t *term) bound(op string, n int64, least bool) {
	t.lo, t.hi = 0, math.MaxInt64
	switch op {
	case ">":
		if t.lo = n; n < math.MaxInt64 {
			t.lo = n + 1
		}
	case "<":
		t.hi = n - 1
	case "<=":
		t.hi = n
	case ">=":
		t.lo = n
	default:
		if t.lo = n; !least {
			t.hi = n
		}
	}
}

// termOutside returns a term that is of none of the kinds; ok when there is none.
func (f *Filter) termOutside(kinds termKind) (word string, ok bool) {
	for _, t := range f.terms {
		if t.kind&kinds == 0 {
			return t.text, false
		}
	}
	return "", true
}

// has reports whether a term of the kinds is there.
func (f *Filter) has(kinds termKind) bool {
	for _, t := range f.terms {
		if t.kind&kinds != 0 {
			return true
		}
	}
	return false
}

// goFacts are what is known of a goroutine without reading the trace.
type goFacts struct {
	id    int64
	group string
	life  int64 // ns
}

// goroutine reports whether a goroutine matches, as far as terms are about it.
// A duration counts as of its life.
func (f *Filter) goroutine(g goFacts) bool {
	for i := range f.terms {
		t := &f.terms[i]
		ok := true
		switch t.kind {
		case termFunc:
			ok = t.matches(g.group)
		case termID:
			ok = g.id >= t.lo && g.id <= t.hi
		case termDur:
			ok = g.life >= t.lo && g.life <= t.hi
		default:
			continue
		}
		if ok == t.not {
			return false
		}
	}
	return true
}

// name reports whether a lane matches by its label and id.
func (f *Filter) name(label, id string) bool {
	_, number, _ := strings.Cut(id, ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		n = -1
	}
	return f.goroutine(goFacts{id: n, group: label})
}

// spanFacts are what is known of a span.
type spanFacts struct {
	goFacts
	state  State
	reason string
	label  string
	dur    int64                  // ns
	stack  func(part string) bool // whether a function on it has a part in its name
}

// span reports whether a span matches.
func (f *Filter) span(s *spanFacts) bool {
	for i := range f.terms {
		t := &f.terms[i]
		if t.span(s) == t.not {
			return false
		}
	}
	return true
}

func (t *term) span(s *spanFacts) bool {
	switch t.kind {
	case termFunc:
		return t.matches(s.group)
	case termState:
		return t.states&(1<<s.state) != 0
	case termReason:
		return t.matches(s.reason)
	case termLabel:
		return t.matches(s.label)
	case termDur:
		return s.dur >= t.lo && s.dur <= t.hi
	case termID:
		return s.id >= t.lo && s.id <= t.hi
	}
	for _, p := range t.parts {
		if s.stack(p) {
			return true
		}
	}
	return false
}

// matches reports whether one of the parts is in a text.
func (t *term) matches(s string) bool {
	for _, p := range t.parts {
		if containsFold(s, p) {
			return true
		}
	}
	return false
}

// containsFold is strings.Contains for a part in lower case, in any case.
func containsFold(s, part string) bool {
	if strings.Contains(s, part) {
		return true
	}
	return strings.Contains(strings.ToLower(s), part)
}

package evidence

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A program that has reached a limit of the kernel says so in its log, behind whatever
// the logger puts before it: "accept tcp [::]:80: accept4: too many open files". The
// words alone may stand in any sentence: a line counts where they end what is said and
// stand behind a colon and the call that failed.

const (
	maxShortages = 256 // of files, errors and calls
	maxBefore    = 200 // bytes before the words in which the call is named
	maxExample   = 160 // bytes of what a line says
	maxKeptLine  = 4096
)

// A shortageMark is how the C and the Go library say an error, without the first letter,
// which one of them writes large.
type shortageMark struct {
	mark  []byte
	errno string
}

var shortageMarks = []shortageMark{
	{[]byte("oo many open files"), "EMFILE"},
	{[]byte("annot allocate memory"), "ENOMEM"},
	{[]byte("esource temporarily unavailable"), "EAGAIN"},
}

// threadMark is what the runtime prints where it cannot have a thread.
var threadMark = []byte("runtime: failed to create new OS thread")

// memoryMark is what it prints where it cannot have memory.
var memoryMark = []byte("runtime: out of memory: cannot allocate ")

// refusedBy are the words by which a line names the call, the first that is found.
// starts are those that make a thread or a process: of all others EAGAIN is an answer.
var refusedBy = []struct {
	word, call string
	starts     bool
}{
	{"accept", "accept", false}, {"fork/exec", "fork", true}, {"pthread_create", "thread", true}, {"fork", "fork", true},
	{"clone", "clone", true}, {"lookup", "lookup", false}, {"dial", "dial", false}, {"connect", "dial", false}, {"listen", "listen", false},
	{"pipe", "pipe", false}, {"epoll", "poll", false}, {"inotify", "watch", false}, {"fsnotify", "watch", false}, {"mmap", "memory", false},
	{"open", "open", false}, {"create", "open", false}, {"mkdir", "open", false}, {"stat", "open", false}, {"readdir", "open", false},
	{"exec", "fork", true}, {"socket", "socket", false}, {"read", "other", false}, {"write", "other", false}, {"dup", "other", false},
}

// shortages are the lines of all logs about what the kernel refused.
type shortages struct {
	file  string // that is searched
	lines int
	found map[shortageKey]*shortageLines
}

type shortageKey struct{ file, errno, call string }

type shortageLines struct {
	n, heap     int64
	example     string
	first, last []byte // of the lines, for their times
}

func (r *shortages) search(piece []byte) {
	for _, m := range shortageMarks {
		eachMarkedLine(piece, m.mark, func(line, _ []byte) { r.line(line, m) })
	}
	eachMarkedLine(piece, threadMark, func(line, _ []byte) {
		errno := "EAGAIN"
		if bytes.Contains(line, []byte("errno=12)")) {
			errno = "ENOMEM"
		}
		r.add(line, errno, "thread", line[bytes.Index(line, threadMark):])
	})
	eachMarkedLine(piece, memoryMark, func(line, _ []byte) {
		said := line[bytes.Index(line, memoryMark):]
		r.add(line, "ENOMEM", "memory", said)
		if l := r.found[shortageKey{r.file, "ENOMEM", "memory"}]; l != nil {
			if m := heapInUse.FindSubmatch(said); m != nil {
				n, _ := strconv.ParseInt(string(m[1]), 10, 64)
				l.heap = max(l.heap, n)
			}
		}
	})
}

// heapInUse is what the runtime says of the heap there.
var heapInUse = regexp.MustCompile(`-byte block \((\d{1,18}) in use\)`)

// line looks at a line with the words of a mark in it.
func (r *shortages) line(line []byte, m shortageMark) {
	at := bytes.Index(line, m.mark)
	end := at + len(m.mark)
	errno := m.errno
	if rest, ok := bytes.CutPrefix(line[end:], []byte(" in system")); ok && errno == "EMFILE" {
		errno, end = "ENFILE", len(line)-len(rest)
	}
	if at < 1 || !endsClause(line[end:]) {
		return
	}
	before, ok := bytes.CutSuffix(line[:at-1], []byte(": "))
	if !ok {
		return
	}
	before = before[max(0, len(before)-maxBefore):]
	call, begin, starts := refusedCall(before)
	switch {
	case errno == "EAGAIN" && !starts, call == "":
		return
	case errno == "ENOMEM" && call == "other" && !bytes.HasSuffix(before, []byte("runtime")):
		return
	}
	said := line[at-1-len(": ")-len(before)+begin : end]
	r.add(line, errno, call, said)
}

// endsClause reports whether what follows the words is not the rest of a sentence.
func endsClause(rest []byte) bool {
	return len(rest) == 0 || bytes.IndexByte([]byte(`;,.")]}'\`+"\t\x1b"), rest[0]) >= 0 || bytes.HasPrefix(rest, []byte(" (")) || len(bytes.TrimSpace(rest)) == 0
}

// refusedCall returns the call that is named before the words, and where it is.
func refusedCall(before []byte) (call string, begin int, starts bool) {
	for _, c := range refusedBy {
		if i := wordIn(before, c.word); i >= 0 {
			return c.call, i, c.starts
		}
	}
	if bytes.HasSuffix(before, []byte("runtime")) {
		return "memory", len(before) - len("runtime"), false
	}
	if i := bytes.LastIndexAny(before, " \"'=(") + 1; bytes.IndexByte(before[i:], '/') >= 0 {
		return "open", i, false // a path
	}
	return "", 0, false
}

// wordIn returns where a word begins, in the text, -1 where it does not.
func wordIn(text []byte, word string) int {
	for from := 0; ; {
		i := bytes.Index(text[from:], []byte(word))
		if i < 0 {
			return -1
		}
		if i += from; i == 0 || !isLetter(text[i-1]) && text[i-1] != '/' && text[i-1] != '.' && text[i-1] != '_' {
			return i
		}
		from = i + len(word)
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (r *shortages) add(line []byte, errno, call string, said []byte) {
	r.lines++
	key := shortageKey{r.file, errno, call}
	l := r.found[key]
	switch {
	case l == nil && len(r.found) >= maxShortages:
		return
	case l == nil:
		if r.found == nil {
			r.found = map[shortageKey]*shortageLines{}
		}
		l = &shortageLines{example: clipped(said, maxExample), first: bytes.Clone(line[:min(len(line), maxKeptLine)])}
		r.found[key] = l
	}
	l.n++
	l.last = append(l.last[:0], line[:min(len(line), maxKeptLine)]...)
}

// clipped returns a text of some bytes at most, in valid UTF-8.
func clipped(text []byte, most int) string {
	if len(text) > most {
		text = append(bytes.Clone(text[:most]), "…"...)
	}
	return strings.ToValidUTF8(string(text), "")
}

// list returns what was found, most lines first.
func (r *shortages) list() (all []model.Shortage) {
	for _, key := range slices.SortedFunc(maps.Keys(r.found), func(a, b shortageKey) int {
		return cmp.Or(cmp.Compare(r.found[b].n, r.found[a].n), cmp.Compare(a.file, b.file), cmp.Compare(a.errno, b.errno), cmp.Compare(a.call, b.call))
	}) {
		l := r.found[key]
		f := model.Shortage{File: key.file, Errno: key.errno, Call: key.call, Lines: l.n, Example: l.example, HeapBytes: l.heap}
		if first, last := lineTime(l.first), lineTime(l.last); !first.IsZero() && last.After(first) {
			f.Over = last.Sub(first)
		}
		all = append(all, f)
	}
	return all
}

var (
	lineDate = regexp.MustCompile(`\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:\d\d)?`)
	lineDay  = regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d`)
)

// lineTime returns the time that a line has, of any zone: it is good for differences alone.
func lineTime(line []byte) time.Time {
	if day := lineDay.Find(line); day != nil {
		t, _ := time.Parse(time.Stamp, string(day))
		return t
	}
	s := strings.NewReplacer("/", "-", " ", "T", ",", ".").Replace(string(lineDate.Find(line)))
	if len(s) <= len("2006-01-02T15:04:05.999999999") && !strings.HasSuffix(s, "Z") && strings.LastIndexAny(s, "+-") < len("2006-01-02") {
		s += "Z"
	}
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}

package evidence

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// With GODEBUG=inittrace=1 the runtime prints a line for each package that has something
// to initialise: "init net/http @3.1 ms, 0.2 ms clock, 14808 bytes, 93 allocs".

var (
	initMark = []byte(" ms clock, ") // gctrace has it too
	initLine = regexp.MustCompile(`(?:^|\s)init (\S+) @(\d+(?:\.\d+)?) ms, (\d+(?:\.\d+)?) ms clock, (\d+) bytes, (\d+) allocs\s*$`)
)

// maxInits bounds the packages that are kept: the largest programs have a few thousand.
const maxInits = 1 << 14

func (g *logs) initLine(line, _ []byte) {
	text, _ := unwrap(line)
	if !bytes.Contains(text, []byte("init ")) {
		return
	}
	m := initLine.FindSubmatch(text)
	if m == nil {
		return
	}
	number := func(b []byte) float64 {
		v, _ := strconv.ParseFloat(string(b), 64) // digits, which may be many
		return min(v, maxInit)
	}
	one := model.Init{Package: clipName(string(m[1])), At: milliseconds(number(m[2])), Took: milliseconds(number(m[3])),
		Bytes: number(m[4]), Allocs: number(m[5])}
	if n := len(g.inits); n > 0 && one.At < g.inits[n-1].At { // another process began
		g.inits = g.inits[:0]
		g.started++
	}
	if len(g.inits) < maxInits {
		g.inits = append(g.inits, one)
	}
}

// milliseconds returns a time of which the runtime prints three digits behind the point.
func milliseconds(v float64) time.Duration {
	return time.Duration(math.Round(v*1e3)) * time.Microsecond
}

// maxInit is more than any time in milliseconds or number of bytes that a line can mean.
const maxInit = 1e12

// joinInits brings the packages of the last process into the model.
func (l *loader) joinInits() {
	g := &l.logs
	if len(g.inits) == 0 {
		return
	}
	if g.started > 0 {
		l.note("the logs have lines of inittrace of %d starts of a program; the last is used", g.started+1)
	}
	l.m.Counts = append(l.m.Counts, &model.Counts{File: l.from[model.Counted], Tool: "inittrace", Inits: g.inits})
}

// Package coverage reads how often each piece of source ran, as programs count it that the go
// command built with -cover, and says it of functions and loops.
//
// It hides the text form of the counters, and how the releases of Go cut source into the blocks
// that have one. [Parse] reads the form into a [Profile]; [Functions] joins the blocks of a file
// with its syntax.
//
// coverage builds and runs nothing, and opens no file.
package coverage

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds on what is read. The standard library has 200,000 blocks.
const (
	maxBlocks = 4 << 20
	maxLine   = 64 << 10
)

// MaxCount is how far a program counts before a counter begins again at 0.
const MaxCount = math.MaxUint32

// A Position is a place in a file; lines and columns, in bytes, count from 1.
type Position struct{ Line, Column int }

// compare orders positions as a file has them.
func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// A Block is a piece of source that runs from its first statement to its last, and how often
// it did.
type Block struct {
	From, To Position
	Count    uint64
}

// A Profile is what one or more runs counted: the blocks of each file in the order of the
// source. Files are named by the import path of their package and their name in it.
type Profile struct {
	Files map[string][]Block
}

// ErrFormat is the error of an input that is no text of counters.
var ErrFormat = errors.New("not the text of a coverage profile")

// Parse reads counters as `go tool covdata textfmt` and -coverprofile write them. What is
// there of a block several times, for several runs, adds up.
func Parse(r io.Reader) (*Profile, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "mode: ") {
		return nil, cmp.Or(lines.Err(), ErrFormat)
	}
	p := &Profile{Files: map[string][]Block{}}
	for n := 0; lines.Scan(); n++ {
		if n == maxBlocks {
			return nil, fmt.Errorf("a coverage profile of more than %d blocks", maxBlocks)
		}
		if strings.HasPrefix(lines.Text(), "mode: ") || lines.Text() == "" { // files put together
			continue
		}
		file, b, ok := parseBlock(lines.Text())
		if !ok {
			return nil, fmt.Errorf("line %d: %w", n+2, ErrFormat)
		}
		p.Files[file] = append(p.Files[file], b)
	}
	for name, blocks := range p.Files {
		p.Files[name] = merged(blocks)
	}
	return p, lines.Err()
}

// parseBlock reads a line "file.go:1.2,3.4 5 6": from, to, statements, count.
func parseBlock(line string) (file string, b Block, ok bool) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ':')+1:])
	file = strings.TrimSuffix(line[:strings.LastIndexByte(line, ':')+1], ":")
	if len(fields) != 3 || file == "" {
		return "", b, false
	}
	from, to, _ := strings.Cut(fields[0], ",")
	var okFrom, okTo bool
	b.From, okFrom = parsePosition(from)
	b.To, okTo = parsePosition(to)
	count, err := strconv.ParseUint(fields[2], 10, 64)
	b.Count = count
	return file, b, okFrom && okTo && err == nil && b.From.compare(b.To) <= 0
}

func parsePosition(s string) (p Position, ok bool) {
	line, column, _ := strings.Cut(s, ".")
	l, errLine := strconv.ParseUint(line, 10, 31)
	c, errColumn := strconv.ParseUint(column, 10, 31)
	return Position{int(l), int(c)}, errLine == nil && errColumn == nil
}

// merged puts blocks in the order of the source, those that are alike into one.
func merged(blocks []Block) (list []Block) {
	slices.SortFunc(blocks, func(a, b Block) int { return cmp.Or(a.From.compare(b.From), a.To.compare(b.To)) })
	for _, b := range blocks {
		if n := len(list); n > 0 && list[n-1].From == b.From && list[n-1].To == b.To {
			if list[n-1].Count += b.Count; list[n-1].Count < b.Count {
				list[n-1].Count = math.MaxUint64
			}
			continue
		}
		list = append(list, b)
	}
	return list
}

package record

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
)

// benchmarks reports whether a command is a test's binary that was asked for benchmarks,
// as go test -exec runs it.
func benchmarks(args []string) bool {
	for i, a := range args {
		name, value, joined := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if name == "test.bench" && strings.HasPrefix(a, "-") {
			return joined && value != "" || !joined && i+1 < len(args)
		}
	}
	return false
}

// maxResults and maxResult are how much of the results of benchmarks is kept, and of a
// line while its end has not come.
const (
	maxResults = 1 << 20
	maxResult  = 4 << 10
)

// A resultLines keeps the lines of a benchmark's output that are its results and what they
// were measured on, and nothing else that the program prints. Close writes them to a file,
// where there are any.
type resultLines struct {
	path  string
	line  []byte
	lines bytes.Buffer
}

func (l *resultLines) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		piece, after, ended := bytes.Cut(rest, []byte("\n"))
		l.line = append(l.line, piece[:min(len(piece), maxResult-len(l.line))]...)
		if rest = after; ended {
			l.end()
		}
	}
	return len(p), nil
}

func (l *resultLines) end() {
	if resultLine(l.line) && l.lines.Len()+len(l.line) < maxResults {
		l.lines.Write(append(l.line, '\n'))
	}
	l.line = l.line[:0]
}

func resultLine(line []byte) bool {
	return bytes.HasPrefix(line, []byte("Benchmark")) && bytes.Contains(line, []byte(" ns/op")) ||
		slices.ContainsFunc([]string{"goos: ", "goarch: ", "pkg: ", "cpu: "}, func(s string) bool { return bytes.HasPrefix(line, []byte(s)) })
}

func (l *resultLines) Close() error {
	l.end()
	if !bytes.Contains(l.lines.Bytes(), []byte("ns/op")) {
		return nil
	}
	return os.WriteFile(l.path, l.lines.Bytes(), 0o666)
}

var _ io.WriteCloser = (*resultLines)(nil)

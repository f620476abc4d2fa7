package record

import (
	"bytes"
	"os"
	"sync"
)

// A thinLog keeps the lines of a log in memory: the first, which says what is in the others,
// the last ones all, and of those before them the fewer the longer it lasts, over all of the
// time. What was an hour ago is of use to see what grows, the last minute to see how fast.
type thinLog struct {
	mu     sync.Mutex
	head   []byte
	recent [][]byte // the last ones
	older  [][]byte // each spacing-th of those before
	every  int      // the spacing
	passed int      // lines that left recent
}

// recentLines are a minute at five a second, and olderLines as many again. A line has 1 KB
// or two, so that both together are less than a megabyte.
const recentLines, olderLines = 300, 300

// Write takes a line, whole.
func (l *thinLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.head == nil {
		l.head = bytes.Clone(line)
		return len(line), nil
	}
	l.recent = append(l.recent, bytes.Clone(line))
	if len(l.recent) > recentLines {
		if l.every = max(l.every, 1); l.passed%l.every == 0 {
			l.older = append(l.older, l.recent[0])
		}
		l.passed++
		l.recent = l.recent[1:]
	}
	if len(l.older) > olderLines {
		kept := l.older[:0]
		for i, line := range l.older {
			if i%2 == 0 {
				kept = append(kept, line)
			}
		}
		clear(l.older[len(kept):])
		l.older, l.every = kept, 2*l.every
	}
	return len(line), nil
}

// Close does nothing: what is kept can still be written.
func (l *thinLog) Close() error { return nil }

// writeTo writes the lines into a file, in place of what it has.
func (l *thinLog) writeTo(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := bytes.Clone(l.head)
	for _, lines := range [][][]byte{l.older, l.recent} {
		text = append(text, bytes.Join(lines, nil)...)
	}
	return os.WriteFile(path, text, 0o600)
}

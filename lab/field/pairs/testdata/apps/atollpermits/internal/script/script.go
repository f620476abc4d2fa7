// Package script reads the rule files of the fishing authority.
package script

import (
	"fmt"
	"strings"
)

// Kind tells what a token is.
type Kind uint8

// The kinds of tokens.
const (
	Word Kind = iota
	Number
	Text
	Punct
)

// Pos is a place in a file.
type Pos struct {
	Line, Column int
}

// Token is one token of a rule file.
type Token struct {
	Kind Kind
	Text string
	At   Pos
}

// Lexer cuts a rule file into tokens.
type Lexer struct {
	src   string
	off   int
	lines *lineTable
}

// NewLexer returns a lexer for src.
func NewLexer(src string, table bool) *Lexer {
	l := &Lexer{src: src}
	if table {
		l.lines = newLineTable(src)
	}
	return l
}

func (l *Lexer) position(off int) Pos {
	if l.lines != nil {
		return l.lines.at(off)
	}
	before := l.src[:off]
	return Pos{
		Line:   1 + strings.Count(before, "\n"),
		Column: off - strings.LastIndexByte(before, '\n'),
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '.' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
}

// Next returns the next token; ok is false at the end.
func (l *Lexer) Next() (t Token, ok bool, err error) {
	for l.off < len(l.src) {
		c := l.src[l.off]
		if c == ' ' || c == '\n' || c == '\t' {
			l.off++
			continue
		}
		if c == '#' {
			n := strings.IndexByte(l.src[l.off:], '\n')
			if n < 0 {
				n = len(l.src) - l.off
			}
			l.off += n
			continue
		}
		break
	}
	if l.off >= len(l.src) {
		return Token{}, false, nil
	}
	start := l.off
	switch c := l.src[start]; {
	case c == '"':
		n := strings.IndexByte(l.src[start+1:], '"')
		if n < 0 {
			return Token{}, false, fmt.Errorf("line %d: text without end", l.position(start).Line)
		}
		l.off += n + 2
		t = Token{Kind: Text, Text: l.src[start+1 : start+1+n]}
	case isWord(c):
		for l.off < len(l.src) && isWord(l.src[l.off]) {
			l.off++
		}
		t = Token{Kind: Word, Text: l.src[start:l.off]}
		if c >= '0' && c <= '9' {
			t.Kind = Number
		}
	default:
		l.off++
		t = Token{Kind: Punct, Text: l.src[start:l.off]}
	}
	t.At = l.position(start)
	return t, true, nil
}

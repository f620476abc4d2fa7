// Package scan splits the source of a fee schedule into tokens.
package scan

import (
	"fmt"
	"strings"
)

type Kind int

const EOF, Word, Number, String, Mark Kind = 0, 1, 2, 3, 4

// Pos is where a token starts; lines and columns count from one.
type Pos struct{ Line, Col int }

func (p Pos) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Col) }

// Token is one token.
type Token struct {
	Kind Kind
	Text string
	Pos  Pos
}

// Scanner reads tokens from a source.
type Scanner struct {
	src string
	off int

	next      bool
	seen      int // offset up to which lines are counted
	line, bol int
}

func New(src string, next bool) *Scanner {
	return &Scanner{src: src, next: next, line: 1}
}

// Scan returns the next token.
func (s *Scanner) Scan() (Token, error) {
	s.skip()
	tok := Token{Pos: s.pos(s.off)}
	if s.off == len(s.src) {
		return tok, nil
	}
	start := s.off
	switch c := s.src[s.off]; {
	case letter(c):
		tok.Kind = Word
		for s.off < len(s.src) && (letter(s.src[s.off]) || digit(s.src[s.off]) || s.src[s.off] == '-') {
			s.off++
		}
	case digit(c):
		tok.Kind = Number
		for s.off < len(s.src) && (digit(s.src[s.off]) || s.src[s.off] == '.') {
			s.off++
		}
	case c == '"':
		tok.Kind = String
		n := strings.IndexByte(s.src[s.off+1:], '"')
		if n < 0 {
			return tok, fmt.Errorf("%v: string does not end", tok.Pos)
		}
		s.off += n + 2
		tok.Text = s.src[start+1 : s.off-1]
		return tok, nil
	case strings.IndexByte("{}[](),;<>=", c) >= 0:
		tok.Kind = Mark
		s.off++
	default:
		return tok, fmt.Errorf("%v: unexpected %q", tok.Pos, c)
	}
	tok.Text = s.src[start:s.off]
	return tok, nil
}

// skip moves over blanks and comments.
func (s *Scanner) skip() {
	for s.off < len(s.src) {
		switch c := s.src[s.off]; {
		case c == ' ' || c == '\t' || c == '\n':
			s.off++
		case c == '#':
			n := strings.IndexByte(s.src[s.off:], '\n')
			if n < 0 {
				n = len(s.src) - s.off
			}
			s.off += n
		default:
			return
		}
	}
}

func (s *Scanner) pos(off int) Pos {
	if s.next {
		for i := s.seen; i < off; i++ {
			if s.src[i] == '\n' {
				s.line, s.bol = s.line+1, i+1
			}
		}
		s.seen = off
		return Pos{s.line, off - s.bol + 1}
	}
	before := s.src[:off]
	return Pos{strings.Count(before, "\n") + 1, off - strings.LastIndex(before, "\n")}
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

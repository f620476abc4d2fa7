// Package lex cuts scripts into tokens, by the patterns of a grammar.
package lex

import (
	"fmt"
	"regexp"
	"unicode/utf8"
)

// A Kind is that of a token.
type Kind string

// The kinds of tokens.
const (
	Title     Kind = "title"
	Heading   Kind = "heading"
	Cue       Kind = "cue"
	Speaker   Kind = "speaker"
	Direction Kind = "direction"
	Aside     Kind = "aside"
	Word      Kind = "word"
	Mark      Kind = "mark"
	Space     Kind = "space"
)

// A Token is a piece of a script.
type Token struct {
	Kind Kind
	Text string
}

type pattern struct {
	kind Kind
	re   *regexp.Regexp
}

// A Grammar has patterns, of which the first that fits is taken.
type Grammar struct{ patterns []pattern }

var stage = []struct {
	kind Kind
	text string
}{
	{Cue, `@[a-z]+ [a-z]+ \d+\n`},
	{Title, `# [^\n]*\n`},
	{Heading, `##+ [^\n]*\n`},
	{Speaker, `[A-Z]+(?: [A-Z]+)*:`},
	{Direction, `\[[^\]]*\]`},
	{Aside, `\([^)]*\)`},
	{Space, `\s+`},
	{Word, `\pL+(?:'\pL+)*`},
	{Mark, `[.,;:!?]+`},
}

// Named is the grammar of a name.
func Named(name string) (*Grammar, error) {
	form := ""
	switch name {
	case "stage":
		form = `(?:%s)`
	case "screen":
		form = `\A(?:%s)`
	default:
		return nil, fmt.Errorf("no grammar %q", name)
	}
	g := &Grammar{}
	for _, p := range stage {
		re, err := regexp.Compile(fmt.Sprintf(form, p.text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.kind, err)
		}
		g.patterns = append(g.patterns, pattern{p.kind, re})
	}
	return g, nil
}

// A Lexer goes through a text.
type Lexer struct {
	g    *Grammar
	rest string
}

// New begins with a text.
func New(g *Grammar, text string) *Lexer { return &Lexer{g, text} }

// Next returns the next token, and false after the last.
func (l *Lexer) Next() (Token, bool) {
	if l.rest == "" {
		return Token{}, false
	}
	for _, p := range l.g.patterns {
		if at := p.re.FindStringIndex(l.rest); at != nil && at[0] == 0 {
			return l.take(p.kind, at[1]), true
		}
	}
	_, n := utf8.DecodeRuneInString(l.rest)
	return l.take(Mark, n), true
}

func (l *Lexer) take(k Kind, n int) Token {
	t := Token{k, l.rest[:n]}
	l.rest = l.rest[n:]
	return t
}

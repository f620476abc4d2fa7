// Package policy builds permits from rule files.
package policy

import (
	"fmt"
	"strconv"

	"atollpermits/internal/script"
)

// Permit allows a boat to take a species in a lagoon.
type Permit struct {
	Boat    string
	Lagoon  string
	Species map[string]int
	From    script.Pos
}

type reader struct {
	lex *script.Lexer
	cur script.Token
	eof bool
}

func (r *reader) advance() error {
	t, ok, err := r.lex.Next()
	r.cur, r.eof = t, !ok
	return err
}

func (r *reader) expect(text string) error {
	if r.eof || r.cur.Text != text {
		return fmt.Errorf("%d:%d: want %q, got %q", r.cur.At.Line, r.cur.At.Column, text, r.cur.Text)
	}
	return r.advance()
}

func (r *reader) take() (string, error) {
	s := r.cur.Text
	return s, r.advance()
}

// Read parses a rule file.
func Read(src string, table bool) ([]Permit, error) {
	r := &reader{lex: script.NewLexer(src, table)}
	if err := r.advance(); err != nil {
		return nil, err
	}
	var out []Permit
	for !r.eof {
		p := Permit{Species: map[string]int{}, From: r.cur.At}
		var err error
		if err = r.expect("permit"); err != nil {
			return nil, err
		}
		if p.Boat, err = r.take(); err != nil {
			return nil, err
		}
		if err = r.expect("in"); err != nil {
			return nil, err
		}
		if p.Lagoon, err = r.take(); err != nil {
			return nil, err
		}
		if err = r.expect("{"); err != nil {
			return nil, err
		}
		for !r.eof && r.cur.Text != "}" {
			name, err := r.take()
			if err != nil {
				return nil, err
			}
			if err := r.expect("="); err != nil {
				return nil, err
			}
			kilos, err := strconv.Atoi(r.cur.Text)
			if err != nil {
				return nil, fmt.Errorf("%d:%d: %w", r.cur.At.Line, r.cur.At.Column, err)
			}
			if err := r.advance(); err != nil {
				return nil, err
			}
			p.Species[name] += kilos
		}
		if err := r.expect("}"); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Package schedule compiles fee schedules.
package schedule

import (
	"fmt"
	"strconv"

	"feeschedule/internal/scan"
)

// Clause is one fee with the payments it is for.
type Clause struct {
	Name      string
	Pos       scan.Pos
	Min       int64
	Countries map[string]bool
	Flat, Cap int64
	Percent   float64
}

// Schedule is a compiled source.
type Schedule struct{ Clauses []Clause }

type parser struct {
	in  *scan.Scanner
	tok scan.Token
}

// Compile parses a source.
func Compile(src string, next bool) (*Schedule, error) {
	p := &parser{in: scan.New(src, next)}
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := new(Schedule)
	for p.tok.Kind != scan.EOF {
		c, err := p.clause()
		if err != nil {
			return nil, fmt.Errorf("schedule: %w", err)
		}
		s.Clauses = append(s.Clauses, c)
	}
	return s, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.in.Scan()
	return err
}

func (p *parser) take(kind scan.Kind, text string) (string, error) {
	if p.tok.Kind != kind || text != "" && p.tok.Text != text {
		return "", fmt.Errorf("%v: found %q instead of %q", p.tok.Pos, p.tok.Text, text)
	}
	got := p.tok.Text
	return got, p.advance()
}

// clause parses: fee "name" over 1000 in [DE, FR] { flat 25; percent 1.2; cap 900; }
func (p *parser) clause() (c Clause, err error) {
	c.Pos = p.tok.Pos
	if _, err = p.take(scan.Word, "fee"); err != nil {
		return c, err
	}
	if c.Name, err = p.take(scan.String, ""); err != nil {
		return c, err
	}
	if _, err = p.take(scan.Word, "over"); err != nil {
		return c, err
	}
	n, err := p.take(scan.Number, "")
	if err != nil {
		return c, err
	}
	c.Min, _ = strconv.ParseInt(n, 10, 64)
	if _, err = p.take(scan.Word, "in"); err != nil {
		return c, err
	}
	c.Countries = make(map[string]bool)
	for p.tok.Text != "{" {
		if p.tok.Kind == scan.Word {
			c.Countries[p.tok.Text] = true
		}
		if err = p.advance(); err != nil || p.tok.Kind == scan.EOF {
			return c, fmt.Errorf("%v: clause does not end: %w", c.Pos, err)
		}
	}
	if err = p.advance(); err != nil {
		return c, err
	}
	for p.tok.Text != "}" {
		if err = p.setting(&c); err != nil {
			return c, err
		}
	}
	return c, p.advance()
}

func (p *parser) setting(c *Clause) error {
	at := p.tok.Pos
	name, err := p.take(scan.Word, "")
	if err != nil {
		return err
	}
	n, err := p.take(scan.Number, "")
	if err != nil {
		return err
	}
	v, err := strconv.ParseFloat(n, 64)
	if err != nil {
		return err
	}
	switch name {
	case "flat":
		c.Flat = int64(v)
	case "cap":
		c.Cap = int64(v)
	case "percent":
		c.Percent = v
	default:
		return fmt.Errorf("%v: no setting %q", at, name)
	}
	_, err = p.take(scan.Mark, ";")
	return err
}

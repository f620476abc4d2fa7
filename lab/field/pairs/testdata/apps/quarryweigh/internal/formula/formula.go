// Package formula compiles the price formulas of tariffs.
package formula

import (
	"fmt"
	"strconv"
	"strings"
)

// Env gives the values of a formula's variables.
type Env func(name string) float64

// Node is a part of a compiled formula.
type Node func(Env) float64

type parser struct {
	toks []string
	pos  int
}

func tokens(src string) []string {
	var out []string
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == ' ' || c == '\n':
			i++
		case strings.IndexByte("+-*/(),", c) >= 0:
			out = append(out, src[i:i+1])
			i++
		default:
			j := i
			for j < len(src) && strings.IndexByte("+-*/(), \n", src[j]) < 0 {
				j++
			}
			out = append(out, src[i:j])
			i = j
		}
	}
	return out
}

// Compile parses a formula.
func Compile(src string) (Node, error) {
	p := &parser{toks: tokens(src)}
	n, err := p.sum()
	if err != nil {
		return nil, err
	}
	if p.pos != len(p.toks) {
		return nil, fmt.Errorf("formula: unexpected %q", p.toks[p.pos])
	}
	return n, nil
}

func (p *parser) peek() string {
	if p.pos < len(p.toks) {
		return p.toks[p.pos]
	}
	return ""
}

func (p *parser) next() string {
	t := p.peek()
	p.pos++
	return t
}

func (p *parser) sum() (Node, error) {
	left, err := p.product()
	if err != nil {
		return nil, err
	}
	for p.peek() == "+" || p.peek() == "-" {
		op := p.next()
		l := left
		r, err := p.product()
		if err != nil {
			return nil, err
		}
		if op == "+" {
			left = func(e Env) float64 { return l(e) + r(e) }
		} else {
			left = func(e Env) float64 { return l(e) - r(e) }
		}
	}
	return left, nil
}

func (p *parser) product() (Node, error) {
	left, err := p.factor()
	if err != nil {
		return nil, err
	}
	for p.peek() == "*" || p.peek() == "/" {
		op := p.next()
		l := left
		r, err := p.factor()
		if err != nil {
			return nil, err
		}
		if op == "*" {
			left = func(e Env) float64 { return l(e) * r(e) }
		} else {
			left = func(e Env) float64 { return l(e) / r(e) }
		}
	}
	return left, nil
}

func (p *parser) factor() (Node, error) {
	t := p.next()
	switch {
	case t == "":
		return nil, fmt.Errorf("formula: unexpected end")
	case t == "(":
		n, err := p.sum()
		if err != nil {
			return nil, err
		}
		if p.next() != ")" {
			return nil, fmt.Errorf("formula: missing )")
		}
		return n, nil
	case t == "max" || t == "min":
		p.next()
		a, err := p.sum()
		if err != nil {
			return nil, err
		}
		p.next()
		b, err := p.sum()
		if err != nil {
			return nil, err
		}
		p.next()
		if t == "max" {
			return func(e Env) float64 { return max(a(e), b(e)) }, nil
		}
		return func(e Env) float64 { return min(a(e), b(e)) }, nil
	case t[0] >= '0' && t[0] <= '9':
		v, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return nil, err
		}
		return func(Env) float64 { return v }, nil
	}
	return func(e Env) float64 { return e(t) }, nil
}

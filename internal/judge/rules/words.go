package rules

import (
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// short is a function's name without its import path, for sentences; the
// place beside them has the whole.
func short(function string) string {
	name, args, generic := strings.Cut(function, "[")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if generic {
		return name + "[" + args
	}
	return name
}

// name is a function in a sentence.
func name(function string) fact.Name { return fact.Name(short(function)) }

// sentence begins with a capital letter.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// figureOf is a number in a sentence.
func figureOf(n int) string { return figures.Number(float64(n)) }

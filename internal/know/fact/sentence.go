package fact

import (
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A Part is what a sentence about the program is made of beside its fixed words:
// facts, and names. There is no part for a bare number: a number in a sentence is
// a fact, or it is not there.
type Part interface{ part() string }

func (f Fact) part() string { return f.Text }

// A Name is a name or a phrase in a sentence: of a function, a group, a system call.
type Name string

func (n Name) part() string { return string(n) }

// Number returns a fact in a sentence that says its unit itself: "4,000" of "4,000/s",
// "31.6" of "31.6×".
func (f Fact) Number() Part { return Name(figures.Number(f.Value)) }

// Things returns a number of things in a sentence: "1 P", "8 Ps", "2.5 samples".
func (f Fact) Things(one string) Part {
	if f.Text == "1" {
		return Name("1 " + one)
	}
	return Name(f.Text + " " + one + "s")
}

// Sentence puts parts where the format has %s. Formats hold no digits: a number
// comes from a fact, so that text never has one that is not in the evidence.
func Sentence(format string, parts ...Part) string {
	var b strings.Builder
	for _, p := range parts {
		before, after, ok := strings.Cut(format, "%s")
		if !ok {
			break
		}
		b.WriteString(before)
		b.WriteString(p.part())
		format = after
	}
	b.WriteString(format)
	return b.String()
}

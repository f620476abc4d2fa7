package loadresult

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Words of others are bounded: a server may send a page.
const (
	maxKind  = 100
	maxWords = 1000
)

// maxKindsSeen is how many kinds of failures are counted before the most frequent are kept.
const maxKindsSeen = 1000

// fail notes a kind of failure.
func (r *Result) fail(what string, n int64) {
	if what = Printable(what); n >= 0 && what != "" && len(r.Errors) < MaxKinds {
		r.Errors = append(r.Errors, Failure{what, n})
	}
}

// failKinds notes kinds that were counted one by one.
func (r *Result) failKinds(kinds map[string]int64) {
	for what, n := range kinds {
		r.Errors = append(r.Errors, Failure{Printable(what), n})
	}
	slices.SortFunc(r.Errors, func(a, b Failure) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.What, b.What)) })
	r.Errors = r.Errors[:min(len(r.Errors), MaxKinds)]
}

// timedOut reports whether an error says that an answer took too long: then the program
// may have worked for it.
func timedOut(s string) bool {
	return strings.Contains(s, "timeout") || strings.Contains(s, "deadline exceeded") || strings.Contains(s, "Timeout")
}

// Printable makes one short line of a text from anywhere, which a terminal can
// show.
func Printable(s string) string { return clean(s, maxKind) }

// Words returns the same with room for a sentence or two.
func Words(s string) string { return clean(s, maxWords) }

func clean(s string, most int) string {
	s = s[:min(len(s), 8*most)] // of a rune that is cut nothing is left below
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	out, n := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s), 0
	for i := range out {
		if n++; n > most {
			return out[:i] + "…"
		}
	}
	return out
}

// Number writes a rate or a count with what matters of it.
func Number(x float64) string {
	if x >= 100 || x == math.Trunc(x) {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

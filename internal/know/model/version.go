package model

import (
	"strconv"
	"strings"
)

// GoMinor returns the 26 of "go1.26.1", "go1.26-abc" and "devel go1.26-abc";
// ok is false for what is no version of Go.
func GoMinor(version string) (n int, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "devel "), "go1.")
	if !ok {
		return 0, false
	}
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	n, err := strconv.Atoi(rest)
	return n, err == nil
}

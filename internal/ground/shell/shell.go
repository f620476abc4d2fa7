// Package shell writes commands that a reader pastes into a shell.
//
// It hides which characters sh, bash and zsh take as they are, and how the others
// are quoted, so that a command in a report means the same in each of them.
package shell

import (
	"regexp"
	"strings"
)

// bare are the words that every shell takes as they are. Braces stay bare around
// a name, as in -workers={workers}, where none expands them; {1..9} and {a,b} are
// no names, and =word is the path of a command in zsh.
var bare = regexp.MustCompile(`^([-\w./:@%+,][-\w./:@%+,=]*)?(\{\w+\}[-\w./:@%+,=]*)?$`)

// Word returns s as one word of a command.
func Word(s string) string {
	if s != "" && bare.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Words returns a list as words of a command.
func Words(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = Word(s)
	}
	return strings.Join(words, " ")
}

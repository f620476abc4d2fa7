package subject

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// Split turns a command line into words as a shell does, without one: quotes
// and backslashes are understood. A line that needs a shell, for a pipe, a
// variable or a pattern of file names, becomes sh -c with the line; the shell
// is replaced by the program where it would only wait for it, so that what is
// measured is the program. Variables set before a command go through env.
func Split(line string) ([]string, error) {
	s := splitter{line: line}
	words, err := s.words()
	switch {
	case err != nil:
		return nil, problem.New(problem.Misuse, "quote it as for a shell: './app -name \"two words\"'", "cannot understand the command line %s: %v", printable(line), err)
	case len(words) == 0:
		return nil, problem.New(problem.Misuse, "--a './app -n 1000'", "the command line is empty")
	case s.joins || s.expands && !replaceable(words[0]):
		return []string{"sh", "-c", line}, nil
	case s.expands:
		return []string{"sh", "-c", "exec " + strings.TrimSpace(line)}, nil
	case assignment.MatchString(words[0]):
		return append([]string{"env"}, words...), nil
	}
	return words, nil
}

// Parse is [Split] with the variables that are set before the command taken
// into the program's environment.
func Parse(line string) (Program, error) {
	words, err := Split(line)
	if err != nil {
		return Program{}, err
	}
	if words[0] != "env" || len(words) < 2 || !assignment.MatchString(words[1]) {
		return Program{Command: words}, nil
	}
	n := 1
	for n < len(words) && assignment.MatchString(words[n]) {
		n++
	}
	if n == len(words) {
		return Program{}, problem.New(problem.Misuse, "--a 'GOGC=50 ./app'", "the command line %s sets variables and starts nothing", printable(line))
	}
	return Program{Command: words[n:], Env: words[1:n]}, nil
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// builtins are words that only a shell knows.
var builtins = strings.Fields(`! . : [[ alias bg break case cd command continue declare do done eval exec exit export fg for function
	getopts hash if jobs let local popd pushd read readonly return select set shift source time trap type ulimit umask unalias unset until wait while {`)

// replaceable reports whether `exec` may stand before a command.
func replaceable(word string) bool {
	return !slices.Contains(builtins, word) && !assignment.MatchString(word)
}

// A splitter reads a line.
type splitter struct {
	line string
	// joins is set by what makes more than one command of a line, expands by
	// what a shell replaces or redirects.
	joins, expands bool
	word           strings.Builder
	inWord         bool
}

// words returns the words of the line; where a shell is needed they are only
// what the line begins with.
func (s *splitter) words() (words []string, err error) {
	for i := 0; i < len(s.line); i++ {
		c := s.line[i]
		switch {
		case c == 0:
			return nil, fmt.Errorf("it has a NUL byte")
		case c == ' ' || c == '\t':
			words = s.end(words)
		case c == '\'' || c == '"':
			if i, err = s.quoted(i); err != nil {
				return nil, err
			}
		case c == '\\':
			if i++; i == len(s.line) {
				return nil, fmt.Errorf("it ends with a backslash")
			}
			s.add(s.line[i])
		default:
			s.plain(c)
		}
	}
	return s.end(words), nil
}

func (s *splitter) end(words []string) []string {
	if s.inWord {
		words = append(words, s.word.String())
	}
	s.word.Reset()
	s.inWord = false
	return words
}

func (s *splitter) add(c byte) {
	s.word.WriteByte(c)
	s.inWord = true
}

// plain takes a character that is not quoted.
func (s *splitter) plain(c byte) {
	switch c {
	case '|', '&', ';', '(', ')', '\n', '`':
		s.joins = true
	case '$', '<', '>', '*', '?', '[':
		s.expands = true
	case '~', '#':
		s.expands = s.expands || !s.inWord
	}
	s.add(c)
}

// quoted takes what is between quotation marks, the first at i, and returns
// where the last one is.
func (s *splitter) quoted(i int) (int, error) {
	mark := s.line[i]
	s.inWord = true
	for i++; i < len(s.line); i++ {
		c := s.line[i]
		switch {
		case c == mark:
			return i, nil
		case c == 0:
			return i, fmt.Errorf("it has a NUL byte")
		case mark == '"' && (c == '$' || c == '`'):
			s.expands = true
		case mark == '"' && c == '\\' && i+1 < len(s.line) && strings.IndexByte("\"\\$`", s.line[i+1]) >= 0:
			i++
			c = s.line[i]
		}
		s.add(c)
	}
	return i, fmt.Errorf("the %c is not closed", mark)
}

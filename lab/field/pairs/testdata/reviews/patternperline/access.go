// Package access reads the access logs of web servers.
package access

import (
	"fmt"
	"regexp"
	"strconv"
)

// An Entry is one line of a log.
type Entry struct {
	Host, Method, Path string
	Status, Size       int
}

const line = `^(\S+) \S+ \S+ \[[^\]]+\] "(\S+) (\S+) [^"]*" (\d{3}) (\d+)`

var compiled = regexp.MustCompile(line)

// Parse reads a line.
func Parse(text string) (Entry, error) { return entry(compiled, text) }

// ParseWith reads a line by a pattern that a site has configured.
func ParseWith(pattern, text string) (Entry, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return Entry{}, err
	}
	return entry(re, text)
}

func entry(re *regexp.Regexp, text string) (e Entry, err error) {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return e, fmt.Errorf("no log line: %q", text)
	}
	e.Host, e.Method, e.Path = m[1], m[2], m[3]
	if e.Status, err = strconv.Atoi(m[4]); err != nil {
		return e, err
	}
	e.Size, err = strconv.Atoi(m[5])
	return e, err
}

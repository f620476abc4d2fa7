package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A verdict is what a person said of a match.
type verdict struct {
	pattern, place, why string
	right               bool
}

// A record is what the file of verdicts holds: what was looked through, how often each pattern
// was found in it, and the verdicts.
type record struct {
	about    []string
	found    map[string]int
	verdicts []verdict
}

// readRecord reads lines of "# words", "found PATTERN N" and "right|wrong PATTERN PLACE WHY".
func readRecord(name string) (r record, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	r.found = map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		words := strings.SplitN(line, " ", 4)
		switch {
		case words[0] == "#":
			r.about = append(r.about, strings.TrimPrefix(line, "# "))
		case words[0] == "found" && len(words) == 3:
			n, wrong := strconv.Atoi(words[2])
			r.found[words[1]], err = n, errors.Join(err, wrong)
		case (words[0] == "right" || words[0] == "wrong") && len(words) >= 3:
			v := verdict{pattern: words[1], place: words[2], right: words[0] == "right"}
			if len(words) == 4 {
				v.why = words[3]
			}
			r.verdicts = append(r.verdicts, v)
		default:
			err = errors.Join(err, fmt.Errorf("%s:%d: neither words, nor a count, nor a verdict", name, i+1))
		}
	}
	return r, err
}

// A row is what there is of a pattern.
type row struct {
	pattern            string
	found, read, right int
}

func (r *record) rows() (rows []row) {
	at := map[string]int{}
	row1 := func(pattern string) *row {
		if _, ok := at[pattern]; !ok {
			at[pattern] = len(rows)
			rows = append(rows, row{pattern: pattern})
		}
		return &rows[at[pattern]]
	}
	for p, n := range r.found {
		row1(p).found = n
	}
	for _, v := range r.verdicts {
		row1(v.pattern).read++
		if v.right {
			row1(v.pattern).right++
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.found, a.found), strings.Compare(a.pattern, b.pattern))
	})
	return rows
}

// writePage writes the page of a file of verdicts.
func writePage(from, to string) error {
	r, err := readRecord(from)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	read, right := 0, 0
	for _, v := range r.verdicts {
		if read++; v.right {
			right++
		}
	}
	fmt.Fprintf(&b, "# Right where given: patterns on lines of others\n\n<!-- go run ./bench/patterns/matches -page FILE writes this page. -->\n\n"+
		"`needlesswork` says that a hot line has a cheaper equivalent. Here is how often each pattern is\n"+
		"found on any line, hot or not, and what a person said who read some: right is a line whose\n"+
		"equivalent does the same and is cheaper, were the line hot.\n\n**%d of %d were right (%.0f%%).**\n\n", right, read, 100*float64(right)/float64(max(1, read)))
	for _, words := range r.about {
		fmt.Fprintf(&b, "%s\n", words)
	}
	b.WriteString("\n| pattern | found | read | right |\n|---|---:|---:|---:|\n")
	for _, row := range r.rows() {
		share := "–"
		if row.read > 0 {
			share = strconv.Itoa(row.right)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", row.pattern, row.found, row.read, share)
	}
	b.WriteString("\n## Wrong\n\n")
	for _, v := range r.verdicts {
		if !v.right {
			fmt.Fprintf(&b, "- %s, `%s`: %s\n", v.pattern, v.place, v.why)
		}
	}
	return os.WriteFile(to, b.Bytes(), 0o644) //nolint:gosec // a page of the source tree
}

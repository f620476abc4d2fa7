// Package comments has what people wrote.
package comments

import (
	"fmt"
	"strings"
)

// A Comment is a text of somebody.
type Comment struct {
	Author, Text string
	Marked       bool
}

// A Checker knows what is bad.
type Checker interface{ Bad(text string) bool }

// Mark marks the bad comments and counts them.
func Mark(all []Comment, c Checker) (n int) {
	for i := range all {
		if all[i].Marked = c.Bad(all[i].Text); all[i].Marked {
			n++
		}
	}
	return n
}

// Generate makes comments up, some of them bad at their end.
func Generate(n int) (out []Comment) {
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("I think that number %d of the agenda is better than the one before. ", i), 6)
		if i%50 == 0 {
			text += "Brakelmon!"
		}
		out = append(out, Comment{Author: fmt.Sprint("reader ", i), Text: text})
	}
	return out
}

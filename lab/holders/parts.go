package main

import (
	"strings"
)

// What is small and keeps something large.
var parts = []program{
	{"subslice", "16 bytes of each message, which keep all of it", keepHeads},
	{"substring", "a title of each text, which keeps all of it", keepTitles},
}

var heads [][]byte

// head returns the part of a message that is of use.
func head(message []byte) []byte { return message[:16] }

func keepHeads() error {
	for i := 0; i < held/piece; i++ {
		heads = append(heads, head(filled(piece)))
	}
	collect()
	return nil
}

var titles []string

// title returns the first line of a text.
func title(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func keepTitles() error {
	for i := 0; i < held/piece; i++ {
		text := filled(piece)
		copy(text, "A title\n")
		titles = append(titles, title(string(text)))
	}
	collect()
	return nil
}

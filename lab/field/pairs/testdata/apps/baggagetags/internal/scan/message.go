// Package scan reads the messages that the scanners of a baggage hall send.
package scan

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Kind says at which point of the way a bag was seen.
type Kind string

const (
	Checked Kind = "CHK"
	Sorted  Kind = "SRT"
	Loaded  Kind = "LDD"
	Claimed Kind = "CLM"
)

// Message is one reading of a tag.
type Message struct {
	Tag    string
	Flight string
	Kind   Kind
	Point  string
	Weight int
}

var errFormat = errors.New("scan: malformed message")

// Encode gives the line form of m with its check sum.
func Encode(m Message) string {
	body := fmt.Sprintf("%s|%s|%s|%s|%d", m.Tag, m.Flight, m.Kind, m.Point, m.Weight)
	return body + "#" + strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(body))), 16)
}

// Parse reads a line.
func Parse(line string) (Message, error) {
	body, sum, ok := strings.Cut(line, "#")
	if !ok {
		return Message{}, errFormat
	}
	want, err := strconv.ParseUint(sum, 16, 32)
	if err != nil || uint32(want) != crc32.ChecksumIEEE([]byte(body)) {
		return Message{}, errFormat
	}
	f := strings.Split(body, "|")
	if len(f) != 5 {
		return Message{}, errFormat
	}
	w, err := strconv.Atoi(f[4])
	if err != nil {
		return Message{}, errFormat
	}
	return Message{Tag: strings.Clone(f[0]), Flight: strings.Clone(f[1]), Kind: Kind(strings.Clone(f[2])), Point: strings.Clone(f[3]), Weight: w}, nil
}

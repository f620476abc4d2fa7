// Package manifest has the records of the feed and their text form.
package manifest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Record is one raw record of the feed.
type Record struct {
	Offset int
	Key    string
	Body   string
}

// Movement is a decoded record.
type Movement struct {
	Container string
	Kind      string
	Bay       int
	Weight    int
	Seals     []string
}

var errFormat = errors.New("manifest: bad record")

// Parse decodes the body of a record.
func Parse(body string) (Movement, error) {
	var m Movement
	for field := range strings.SplitSeq(body, "+") {
		name, value, ok := strings.Cut(field, ":")
		if !ok {
			return m, errFormat
		}
		var err error
		switch name {
		case "CNT":
			m.Container = value
		case "MOV":
			m.Kind = value
		case "BAY":
			m.Bay, err = strconv.Atoi(value)
		case "WGT":
			m.Weight, err = strconv.Atoi(value)
		case "SEL":
			m.Seals = strings.Split(value, ",")
		}
		if err != nil {
			return m, fmt.Errorf("%w: %s", errFormat, name)
		}
	}
	if !validCheckDigit(m.Container) {
		return m, errFormat
	}
	return m, nil
}

func validCheckDigit(c string) bool {
	return len(c) == 11 && int(c[10]-'0') == checkDigit(c[:10])
}

func checkDigit(c string) int {
	sum := 0
	for i, r := range c {
		v := 0
		if r >= '0' && r <= '9' {
			v = int(r - '0')
		} else {
			v = 10 + int(r-'A')
			v += (v - 1) / 10
		}
		sum += v << i
	}
	return sum % 11 % 10
}

// Sample makes a plausible record.
func Sample(r *rand.Rand, offset int) Record {
	c := fmt.Sprintf("MSK%c%06d", 'A'+r.IntN(26), r.IntN(3000))
	digit := checkDigit(c)
	if r.IntN(200) == 0 {
		digit = (digit + 1) % 10
	}
	kinds := [...]string{"DISCHARGE", "LOAD", "SHIFT", "GATEOUT"}
	body := fmt.Sprintf("CNT:%s%d+MOV:%s+BAY:%d+WGT:%d+SEL:S%06d,S%06d", c, digit, kinds[r.IntN(4)],
		r.IntN(900), 2000+r.IntN(28000), r.IntN(1e6), r.IntN(1e6))
	return Record{Offset: offset, Key: c, Body: body}
}

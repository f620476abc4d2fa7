// Package sightings reads the lines of cameras.
package sightings

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Sighting is one car at one camera.
type Sighting struct {
	Plate  string
	Camera byte
	Millis int64
	Lane   int
	Sure   float64
}

var errFields = errors.New("want 5 fields")

// Parse reads "plate;camera;unix millis;lane;confidence*check".
func Parse(line []byte) (Sighting, error) {
	var s Sighting
	body, check, ok := bytes.Cut(line, []byte{'*'})
	if !ok || len(check) != 2 {
		return s, fmt.Errorf("no check in %q", line)
	}
	var sum byte
	for _, c := range body {
		sum ^= c
	}
	if want, err := strconv.ParseUint(string(check), 16, 8); err != nil || byte(want) != sum {
		return s, fmt.Errorf("check of %q is %02x", line, sum)
	}
	var f [5][]byte
	n := 0
	for part := range bytes.SplitSeq(body, []byte{';'}) {
		if n == len(f) {
			return s, errFields
		}
		f[n] = part
		n++
	}
	if n != len(f) || len(f[1]) != 1 {
		return s, errFields
	}
	var err error
	if s.Millis, err = strconv.ParseInt(string(f[2]), 10, 64); err != nil {
		return s, err
	}
	if s.Lane, err = strconv.Atoi(string(f[3])); err != nil {
		return s, err
	}
	if s.Sure, err = strconv.ParseFloat(string(f[4]), 64); err != nil {
		return s, err
	}
	s.Plate, s.Camera = string(f[0]), f[1][0]
	return s, nil
}

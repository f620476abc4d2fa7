// Package hl7 reads the subset of pipe-delimited messages that the wards send.
package hl7

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

type Kind string

const (
	Admit     Kind = "A01"
	Update    Kind = "A08"
	Discharge Kind = "A03"
)

type Message struct {
	Kind    Kind
	ID      string
	At      time.Time
	Ward    string
	Patient string
	Family  string
	Given   string
	Bed     string
	Acuity  int
	Notes   map[string]string
}

var ErrMalformed = errors.New("malformed message")

// Parse reads one message of segments separated by carriage returns.
func Parse(raw string) (*Message, error) {
	m := &Message{Notes: make(map[string]string)}
	for len(raw) > 0 {
		seg, rest, _ := strings.Cut(raw, "\r")
		raw = rest
		f := strings.Split(seg, "|")
		switch f[0] {
		case "MSH":
			if len(f) < 5 {
				return nil, ErrMalformed
			}
			var err error
			if m.At, err = time.Parse("20060102150405", f[2]); err != nil {
				return nil, err
			}
			m.Kind, m.ID = Kind(f[3]), f[4]
		case "PID":
			if len(f) < 3 {
				return nil, ErrMalformed
			}
			m.Patient = f[1]
			m.Family, m.Given, _ = strings.Cut(f[2], "^")
		case "PV1":
			if len(f) < 4 {
				return nil, ErrMalformed
			}
			m.Ward, m.Bed = f[1], f[2]
			var err error
			if m.Acuity, err = strconv.Atoi(f[3]); err != nil {
				return nil, err
			}
		case "OBX":
			if len(f) >= 3 {
				m.Notes[f[1]] = f[2]
			}
		}
	}
	if m.Patient == "" || m.Ward == "" {
		return nil, ErrMalformed
	}
	return m, nil
}

// Package adt reads the admission messages of the hospital's information system.
package adt

import (
	"errors"
	"fmt"
	"strings"
)

// Event is one movement of a patient.
type Event struct {
	Kind, Patient, Ward, Bed, Note string
}

var errMessage = errors.New("adt: malformed message")

// Parse reads the MSH, PID and PV1 segments of a message.
func Parse(msg string) (Event, error) {
	var e Event
	for seg := range strings.SplitSeq(msg, "\r") {
		f := strings.Split(seg, "|")
		switch {
		case f[0] == "MSH" && len(f) > 8:
			_, e.Kind, _ = strings.Cut(f[8], "^")
		case f[0] == "PID" && len(f) > 3:
			e.Patient = f[3]
		case f[0] == "PV1" && len(f) > 3:
			loc := strings.Split(f[3], "^")
			if len(loc) < 3 {
				return e, errMessage
			}
			e.Ward, e.Bed = loc[0], loc[2]
		case f[0] == "NTE" && len(f) > 3:
			e.Note = strings.ReplaceAll(f[3], `\T\`, "&")
		}
	}
	if e.Kind == "" || e.Ward == "" {
		return e, errMessage
	}
	return e, nil
}

// Format writes a message for the event.
func Format(e Event) string {
	return fmt.Sprintf("MSH|^~\\&|KIS|HOSP|BEDS|HOSP|20250611||ADT^%s|1|P|2.5\rPID|1||%s||Doe^J\rPV1|1|I|%s^01^%s\rNTE|1||%s",
		e.Kind, e.Patient, e.Ward, e.Bed, e.Note)
}

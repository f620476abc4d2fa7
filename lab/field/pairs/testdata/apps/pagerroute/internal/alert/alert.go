// Package alert is what monitors raise.
package alert

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
)

type Severity int

const (
	Info Severity = iota
	Warning
	Error
	Critical
)

type Alert struct {
	Service  string
	Severity Severity
	Value    float64
	Print    string
	Count    int
}

func New(service string, sev Severity, v float64) Alert {
	sum := sha1.Sum(fmt.Appendf(nil, "%s/%d", service, sev))
	return Alert{Service: service, Severity: sev, Value: v, Print: hex.EncodeToString(sum[:6]), Count: 1}
}

func (a Alert) Text() string {
	return fmt.Sprintf("[%d] %s: %.3f (%s, %d times)", a.Severity, a.Service, a.Value, a.Print, a.Count)
}

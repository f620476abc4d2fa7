// Package backup fetches the configuration of a switch and files it.
package backup

import (
	"bytes"
	"errors"
	"regexp"

	"switchvault/internal/device"
	"switchvault/internal/expect"
	"switchvault/internal/vault"
)

var volatile = []*regexp.Regexp{
	regexp.MustCompile(`^! last change at .*`),
	regexp.MustCompile(`^ntp clock-period \d+`),
}

// Result is what a backup did.
type Result struct {
	Lines, Changed int
	Read           int64
}

// Run backs up one switch.
func Run(sw *device.Switch, v *vault.Vault, v2 bool) (Result, error) {
	s, err := expect.Attach(sw.Console(), v2)
	if err != nil {
		return Result{}, err
	}
	defer s.Close()
	about, err := s.Do("show version")
	if err != nil {
		return Result{}, err
	}
	if !bytes.Contains(about, []byte("release")) {
		return Result{}, errors.New(sw.Name + ": not a switch")
	}
	raw, err := s.Do("show running-config")
	if err != nil {
		return Result{}, err
	}
	var text []byte
	lines := 0
line:
	for l := range bytes.Lines(raw) {
		for _, re := range volatile {
			if re.Match(l) {
				continue line
			}
		}
		text = append(append(text, bytes.TrimRight(l, " \r\n")...), '\n')
		lines++
	}
	ver, err := v.Put(sw.Name, text)
	return Result{Lines: lines, Changed: ver.Gone + ver.New, Read: s.Read}, err
}

package main

import (
	"io"
	"time"
)

// watchFor reads all that is shown on a terminal, and tells when what was read so far
// is as wanted.
func watchFor(terminal io.Reader, wanted func(string) bool, when chan<- time.Time) {
	var seen []byte
	b := make([]byte, 64<<10)
	told := false
	for {
		n, err := terminal.Read(b)
		if err != nil {
			return
		}
		if told {
			continue
		}
		if seen = append(seen, b[:n]...); wanted(string(seen)) {
			told, seen = true, nil
			when <- time.Now()
		}
	}
}

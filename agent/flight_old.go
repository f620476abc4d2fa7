//go:build !go1.25

package agent

import (
	"errors"
	"time"
)

func startFlight(time.Duration, int64) (flight, error) {
	return nil, errors.New("Watch needs a program built with Go 1.25 or newer, which has a flight recorder")
}

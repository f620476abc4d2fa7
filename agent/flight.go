//go:build go1.25

package agent

import (
	"runtime/trace"
	"time"
)

// startFlight starts the flight recorder with room for what was written in a time, or for a
// number of bytes if that is less.
func startFlight(age time.Duration, bytes int64) (flight, error) {
	f := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: age, MaxBytes: uint64(bytes)})
	return f, f.Start()
}

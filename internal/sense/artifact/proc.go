package artifact

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

const (
	ProcKind   = "gowhy proc"
	ProcSchema = 1

	maxProcLine    = 8 << 20
	maxProcSamples = 1 << 18
	maxThreads     = 1 << 16
)

// A Header is the first line of the logs that gowhy writes.
type Header struct {
	Kind   string `json:"kind"`
	Schema int    `json:"schema"`
}

// ParseProc returns the samples before the first that cannot be read.
func ParseProc(r io.Reader) ([]proc.Sample, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxProcLine)
	if !lines.Scan() {
		return nil, lines.Err()
	}
	var h Header
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
		return nil, err
	}
	if h.Kind != ProcKind || h.Schema > ProcSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", h.Schema)
	}
	var samples []proc.Sample
	for lines.Scan() {
		var s proc.Sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return samples, err
		}
		if s.Time.IsZero() || len(samples) > 0 && s.Time.Before(samples[len(samples)-1].Time) {
			return samples, errors.New("its time goes backwards")
		}
		if len(samples) == maxProcSamples {
			return samples, errors.New("there are too many")
		}
		if len(s.Threads) > maxThreads {
			s.Threads = s.Threads[:maxThreads]
		}
		samples = append(samples, s)
	}
	return samples, lines.Err()
}

// Package feed reads the lines that practices send us.
package feed

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Request is a wish for an appointment.
type Request struct {
	Patient string
	Clinic  string
	Start   time.Time
	Length  time.Duration
	Reason  string
}

var errShort = errors.New("feed: line has too few fields")

// Parse reads one line: patient|clinic|start|minutes|reason.
func Parse(line string) (Request, error) {
	f := strings.SplitN(line, "|", 5)
	if len(f) != 5 {
		return Request{}, errShort
	}
	start, err := time.Parse(time.RFC3339, f[2])
	if err != nil {
		return Request{}, err
	}
	n, err := strconv.Atoi(f[3])
	if err != nil {
		return Request{}, err
	}
	return Request{f[0], f[1], start, time.Duration(n) * time.Minute, f[4]}, nil
}

var reasons = []string{"check-up", "vaccination", "blood test", "follow-up after surgery", "referral", "eye test"}

// Lines makes n lines like those of a busy morning.
func Lines(n, clinics int) []string {
	rng := rand.New(rand.NewPCG(7, 11))
	day := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	out := make([]string, n)
	for i := range out {
		at := day.Add(time.Duration(rng.IntN(60*24)) * time.Hour).Add(time.Duration(rng.IntN(12)*5) * time.Minute)
		out[i] = fmt.Sprintf("P%06d|C%03d|%s|%d|%s", rng.IntN(900000), rng.IntN(clinics),
			at.Format(time.RFC3339), 10+5*rng.IntN(5), reasons[rng.IntN(len(reasons))])
	}
	return out
}

package evidence

import (
	"strings"
	"testing"
)

// What a recorder asked the runtime for is no part of the program's environment.
func TestWithoutRecorder(t *testing.T) {
	for in, want := range map[string]string{
		"GODEBUG=gctrace=1,schedtrace=1000 GOGC=50":         "GOGC=50",
		"GODEBUG=asynctimerchan=1,gctrace=1 GOMAXPROCS=2":   "GODEBUG=asynctimerchan=1 GOMAXPROCS=2",
		"GOGC=50 GODEBUG=schedtrace=1000,netdns=go GOENV=x": "GOGC=50 GODEBUG=netdns=go GOENV=x",
		"GODEBUG=": "",
	} {
		given := strings.Fields(in)
		if got := strings.Join(withoutRecorder(given), " "); got != want || strings.Join(given, " ") != in {
			t.Errorf("withoutRecorder(%s) = %q, want %q; given is now %q", in, got, want, given)
		}
	}
}

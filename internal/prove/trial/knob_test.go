package trial

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

func TestParseKnob(t *testing.T) {
	command := strings.Fields("./app -w {workers} -size {size} -gogc {gogc}")
	for s, want := range map[string]string{
		"workers=1..1000":          "workers 1..1000 [] int workers",
		"conns=1..256":             "conns 1..256 [] int concurrent",
		"GOMAXPROCS=1..8":          "GOMAXPROCS 1..8 [] int concurrent",
		"gomaxprocs=1..8":          "GOMAXPROCS 1..8 [] int concurrent",
		"GOGC=400,50,100":          "GOGC 50..400 [400 50 100] int",
		"gogc=50,100":              "gogc 50..100 [50 100] int", // has a place of its own
		"GOMEMLIMIT=256MiB..2GiB":  "GOMEMLIMIT 2.68435456e+08..2.147483648e+09 [] int bytes",
		"size=64KiB,1MiB":          "size 65536..1.048576e+06 [65536 1.048576e+06] int bytes",
		"ratio=0.1..0.9":           "ratio 0.1..0.9 [] fraction",
		"n=0..16":                  "n 0..16 [] int workers",
		"batch=1,2,4":              "batch 1..4 [1 2 4] int",
		"workers=9..4":             "! 9 is not below 4",
		"workers=4..4":             "! 4 is not below 4",
		"workers=-1..4":            "! no value of workers",
		"workers=NaN..4":           "! no value of workers",
		"workers=1..Inf":           "! no value of workers",
		"workers=":                 "! no value of workers",
		"workers":                  "! is not NAME=LOW..HIGH",
		"=1..4":                    "! is not NAME=LOW..HIGH",
		"GOGC=off,100":             "! GOGC=off cannot be searched: use a large number",
		"ratio=0..0.5":             "! must begin above 0",
		"workers=1..1000000000000": "workers 1..1e+12 [] int workers",
	} {
		k, err := ParseKnob(s, command)
		kind := "int"
		if !k.Integer {
			kind = "fraction"
		}
		if k.Bytes {
			kind += " bytes"
		}
		got := strings.TrimSpace(fmt.Sprintf("%s %v..%v %v %s %s", k.Name, k.Low, k.High, k.Values, kind, k.Counts))
		if err != nil {
			got = "! " + err.Error()
			if p, ok := err.(*problem.Error); ok {
				got += " " + p.Hint
			}
		}
		if rest, bad := strings.CutPrefix(want, "! "); bad && (err == nil || !strings.Contains(got, strings.TrimPrefix(rest, "give "))) || !bad && got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

// The hint for a knob without a place shows the command with it, and no flag twice.
func TestWithPlace(t *testing.T) {
	for command, want := range map[string]string{
		"./app -workers 3 x":  "./app -workers {workers} x",
		"./app --workers=3 x": "./app --workers={workers} x",
		"./app workers 3":     "./app workers 3 -workers {workers}",
		"./app -workers":      "./app -workers -workers {workers}",
	} {
		if got := strings.Join(withPlace(strings.Fields(command), "workers"), " "); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}

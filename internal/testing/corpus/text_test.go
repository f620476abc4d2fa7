package corpus

import (
	"strings"
	"testing"
)

func TestParseTextErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Trace Go1.x", "line 1: invalid version"},
		{"Trace Go1.26\n\nNonsense a=1", `line 3: unknown event "Nonsense"`},
		{"GoStart dt=1 g=2", "line 1: GoStart has the arguments [dt g g_seq]"},
		{"GoStart dt=1 g=2 p=3", "argument 3 of GoStart is g_seq"},
		{"GoStart dt=1 g=2 g_seq=x", "no name=number"},
		{"GoStart dt=1/11 g=2 g_seq=3", "at most 10 bytes"},
		{"Hex 0g", "invalid byte"},
		{"String id=1\nGoStop", "must be followed"},
		{"Stack id=1 nframes=1", "ends inside"},
	} {
		_, err := ParseText(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseText(%q) = %v, want an error with %q", tt.text, err, tt.want)
		}
	}
}

package artifact

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

func TestProcDamaged(t *testing.T) {
	begin := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	whole := []byte(`{"kind":"gowhy proc","schema":1}` + "\n")
	for _, s := range []proc.Sample{{Time: begin}, {Time: begin.Add(time.Second)}} {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(append(whole, text...), '\n')
	}
	for name, text := range map[string]string{
		"cut":       string(whole[:len(whole)-20]),
		"backwards": string(whole) + string(bytes.SplitAfter(whole, []byte("\n"))[1]),
		"other":     string(whole) + "no json\n",
	} {
		samples, err := ParseProc(strings.NewReader(text))
		if err == nil || len(samples) == 0 {
			t.Errorf("%s: %d samples, %v; want some and an error", name, len(samples), err)
		}
	}
	if _, err := ParseProc(strings.NewReader(`{"kind":"gowhy proc","schema":99}`)); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Error(err)
	}
}

func TestSyscallsDamaged(t *testing.T) {
	for _, text := range []string{
		"", "{", `{"kind":"gowhy syscalls","schema":2}`, `{"kind":"other","schema":1}`,
		`{"kind":"gowhy syscalls","schema":1,"calls":[{"name":"read","count":-1}]}`,
		`{"kind":"gowhy syscalls","schema":1,"share":1.5}`, `{"kind":"gowhy syscalls","schema":1,"share":-1}`,
		`{"kind":"gowhy syscalls","schema":1,"begin":"2026-01-02T00:00:00Z","end":"2026-01-01T00:00:00Z"}`,
	} {
		if _, _, err := ParseSyscalls(strings.NewReader(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

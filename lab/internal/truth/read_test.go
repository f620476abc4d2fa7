package truth

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const server = `
about: a server
args: [-listen, "127.0.0.1:{port}"]
time: 3s
ready: ready
load: ["{gowhy}", load, "http://127.0.0.1:{port}/"]
illnesses:
  - name: one-lock
    family: locks
    rule: hotmutex
    also: [schedlatency]
    left: [gccost]
    where: [main.serve]
    sick: [-lock]
    healed: []
    doses: {0.25: [-lock=1], 0.5: [-lock=2]}
    metric: cpu/op
useless:
  - {name: pool, from: [], to: [-pool], metric: cpu/op}
healthy:
  - {name: calm or So, args: [-n, "3"], expect: [notloaded]}
`

func TestRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b/truth.yaml": server, "a/deep/truth.yaml": server,
		"internal/x/truth.yaml": "nonsense", "a/testdata/truth.yaml": "nonsense",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := ReadAll(dir)
	if err != nil || len(cases) != 2 {
		t.Fatalf("%d cases, %v; want 2", len(cases), err)
	}
	c := cases[1]
	ill := c.Illness("one-lock")
	if cases[0].Name != "a/deep" || c.Name != "b" || c.Dir != filepath.Join(dir, "b") || c.Time != 3*time.Second || ill == nil || c.Illness("other") != nil {
		t.Fatalf("case %+v, want b for 3s with one-lock, after a/deep", c)
	}
	if !slices.Equal(ill.Doses[0.5], []string{"-lock=2"}) || len(ill.Healed) != 0 || ill.Where[0] != "main.serve" {
		t.Errorf("illness %+v, want a half dose of -lock=2, a cure without flags, main.serve", ill)
	}
	if got := c.Rules(); !slices.Equal(got, []string{"gccost", "hotmutex", "notloaded", "schedlatency"}) {
		t.Errorf("rules %q, want gccost, hotmutex, notloaded and schedlatency", got)
	}
	if c.Run("calm or So") == nil || c.Run("calm") != nil {
		t.Error("a healthy run is not found by its name")
	}
	if _, err := Read(filepath.Join(dir, "none", File)); err == nil {
		t.Error("a missing file is no error")
	}
}

// Each edit breaks the good file in one way, and the error says which.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{"about: a server", "about: ' '", "about is missing"},
		{"ready: ready", "raedy: ready", "raedy"},
		{"ready: ready", "", "no ready"},
		{"time: 3s", "time: -3s", "time is -3s"},
		{"time: 3s", "time: 3h", "time is 3h"},
		{"time: 3s", "", "no time"},
		{"time: 3s", "time: soon", "soon"},
		{"{port}", "{prot}", "{prot}"},
		{"family: locks", "family: lock", `family "lock"`},
		{"rule: hotmutex", "rule: Hot mutex", `"Hot mutex" is no rule`},
		{"rule: hotmutex", "rule: ''", `"" is no rule`},
		{"also: [schedlatency]", "also: [hotmutex]", "cannot be in also or left"},
		{"left: [gccost]", "left: [hotmutex]", "cannot be in also or left"},
		{"healed: []", "healed: [-lock]", "sick and healed are the same"},
		{"0.25:", "0:", "dose 0"},
		{"0.25:", "1.25:", "dose 1.25"},
		{"0.25:", ".nan:", "dose NaN"},
		{"[-lock=1]", "[-lock]", "dose 0.25 is the same"},
		{"metric: cpu/op\nuseless", "metric: cpu\nuseless", `metric "cpu"`},
		{"metric: cpu/op\nuseless", "metric: cpu/op\n    ops: -1\nuseless", "ops is -1"},
		{", metric: cpu/op}", "}", "no metric"},
		{"to: [-pool]", "to: []", "from and to are the same"},
		{"name: calm or So", "name: calm/er", "letters and digits"},
		{"healthy:", "healthy:\n  - {name: calm or So}", "there twice"},
		{"illnesses:", "server: {name: Redis, variable: REDIS, args: [-redis]}\nillnesses:", "the server has"},
		{"    metric: cpu/op\nuseless", "    sizes: {usual: {sick: [-lock, -n=9], healed: []}}\nuseless", `size "usual"`},
		{"    metric: cpu/op\nuseless", "    sizes: {large: {sick: [-lock], healed: []}}\nuseless", "size large"},
		{"    metric: cpu/op\nuseless", "    sizes: {large: {sick: [-n=9], healed: [-n=9]}}\nuseless", "size large"},
		{"expect: [notloaded]", "expect: ['not loaded']", "is no rule"},
		{"about: a server", "about: a server\n---\nabout: another", "more than one"},
	} {
		text := strings.Replace(server, c.old, c.new, 1)
		if text == server {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := decode([]byte(text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q for %q: %v; want %q", c.new, c.old, err, c.says)
		}
	}
	for _, text := range []string{"", "about: x", "[]", strings.Repeat("#", maxFile+1)} {
		if _, err := decode([]byte(text)); err == nil {
			t.Errorf("%.20q is accepted", text)
		}
	}
}

// What a JSON body has in it is no placeholder.
func TestPlaceholders(t *testing.T) {
	text := strings.Replace(server, "args: [-listen,", `args: ['{"id": {}}', -listen,`, 1)
	if _, err := decode([]byte(text)); err != nil {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(server))
	f.Add([]byte("about: x\nhealthy: [{name: a}]"))
	f.Add([]byte("a: &a [*a, *a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := decode(data); err == nil && len(c.Illnesses)+len(c.Healthy) == 0 {
			t.Error("a case without runs is accepted")
		}
	})
}

package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	for s, want := range map[string]string{
		"":                    "''",
		"-n":                  "-n",
		"./cmd/app":           "./cmd/app",
		"a,b":                 "a,b",
		"GOGC=50":             "GOGC=50",
		"=ls":                 "'=ls'",
		"{binary}":            "{binary}",
		"-workers={workers}":  "-workers={workers}",
		"={binary}":           "'={binary}'",
		"{}":                  "'{}'",
		"{":                   "'{'",
		"}":                   "'}'",
		"{1..9}":              "'{1..9}'",
		"{a,b}":               "'{a,b}'",
		"{a}{b}":              "'{a}{b}'",
		"a b":                 "'a b'",
		"it's":                `'it'\''s'`,
		"max(ops/s)":          "'max(ops/s)'",
		"~/run.gowhy":         "'~/run.gowhy'",
		"run.gowhy\nrm -r /x": "'run.gowhy\nrm -r /x'",
		"größe":               "'größe'",
		"#1":                  "'#1'",
		"!!":                  "'!!'",
		"a^b":                 "'a^b'",
		"a\n":                 "'a\n'",
	} {
		if got := Word(s); got != want {
			t.Errorf("Word(%q) is %s, want %s", s, got, want)
		}
	}
}

// read returns the words that a shell reads, through printf: \x01 ends each.
func read(t *testing.T, shell, words string) []string {
	t.Helper()
	out, err := exec.Command(shell, "-c", `printf '%s\001' `+words).Output()
	if err != nil {
		t.Fatalf("%s cannot read %q: %v", shell, words, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x01"), "\x01")
}

// Shells that are there; sh always is.
func shells() (list []string) {
	for _, name := range []string{"sh", "bash", "zsh"} {
		if path, err := exec.LookPath(name); err == nil {
			list = append(list, path)
		}
	}
	return list
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", "=ls", "{a,b}", "{1..3}", "{name}", "x={name}", "{}", "{", "a\nb", "$HOME", "`id`", `\`, "~", "*", "-n", "!!", "a=~", "\xff"} {
		f.Add(s, "end")
		f.Add("first", s)
	}
	list := shells()
	f.Fuzz(func(t *testing.T, a, b string) {
		want := []string{a, b}
		if strings.ContainsAny(a+b, "\x00\x01") { // no argument has a NUL, and \x01 is ours
			return
		}
		for _, sh := range list {
			if got := read(t, sh, Words(want)); !slices.Equal(got, want) {
				t.Errorf("%s reads %q as %q, want %q", sh, Words(want), got, want)
			}
		}
	})
}

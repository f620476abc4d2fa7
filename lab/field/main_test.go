package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table can be run: each program is installed or is std's, and nothing is
// left of a placeholder.
func TestPrograms(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range programs {
		if seen[p.name] || p.about == "" {
			t.Errorf("%s is there twice, or nothing is said of it", p.name)
		}
		seen[p.name] = true
		if (p.bench[0] == "") != (len(p.pkgs) > 0 && len(p.command) > 0) || p.profiles != "" && len(p.load) == 0 {
			t.Errorf("%s is neither a benchmark, nor a server with its load, nor a program", p.name)
		}
		for _, pkg := range p.pkgs {
			if !regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9]{14}-[0-9a-f]{12})?$`).MatchString(version(pkg)) {
				t.Errorf("%s: %s has no version", p.name, pkg)
			}
		}
		p.inputs = nil // they are long, and have nothing to fill
		r := &run{program: p, gowhy: "/bin/gowhy"}
		dir := filepath.Join(t.TempDir(), p.name)
		if err := r.prepare(dir, "/bin"); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(r.words(append(append(p.command, p.load...), p.profiles)...), " ")
		for name := range p.files {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all += string(text)
		}
		if left := regexp.MustCompile(`\{(port|admin|dir|bin|gowhy|goroot)\}`).FindString(all); left != "" {
			t.Errorf("%s: %s is left", p.name, left)
		}
		if len(p.pkgs) == 0 {
			continue
		}
		installed := "/bin/" + binary(p.pkgs[0])
		if line := " " + strings.Join(r.words(p.command...), " ") + " "; !strings.Contains(line, " "+installed+" ") {
			t.Errorf("%s runs %s, want %s in it, which is installed", p.name, line, installed)
		}
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(nil); err != nil || len(all) != len(programs) {
		t.Errorf("choose(nothing) = %d, %v; want all %d", len(all), err, len(programs))
	}
	if two, err := choose([]string{"sort", "caddy"}); err != nil || len(two) != 2 || two[0].name != "sort" || two[1].name != "caddy" {
		t.Errorf("choose(sort, caddy) = %v, %v; want these two", two, err)
	}
	if _, err := choose([]string{"nosuch"}); err == nil || !strings.Contains(err.Error(), "caddy, coredns") {
		t.Error(err)
	}
}

func TestBinary(t *testing.T) {
	for pkg, want := range map[string]string{
		"github.com/nats-io/nats-server/v2@v2.15.2":         "nats-server",
		"github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9": "caddy",
		"github.com/coredns/coredns@v1.15.0":                "coredns",
	} {
		if got := binary(pkg); got != want {
			t.Errorf("%s gives %s, want %s", pkg, got, want)
		}
	}
}

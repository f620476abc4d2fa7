package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// The modules as they are when a tag is published are installed as users do: by go
// install, and as a tool of another module. go.work does not help there, nor a
// replace: what go.mod requires must be enough.
func TestInstall(t *testing.T) {
	attempt.Only(t, "compiles gowhy as a module of its own")
	dir := t.TempDir()
	agent := requiredAgent(t)
	const version = "v0.9.8"
	publish(t, dir, ownModule+"/agent", agent, "agent/")
	publish(t, dir, ownModule, version, "")

	// A module cache of its own, so that no other test or user meets these versions;
	// all other modules come out of the cache that is there, which is a proxy too.
	cache := strings.TrimSpace(execute(t, ".", nil, "go", "env", "GOMODCACHE"))
	proxy := strings.TrimSpace(execute(t, ".", nil, "go", "env", "GOPROXY"))
	bin := filepath.Join(dir, "bin")
	env := []string{
		"GOPROXY=file://" + filepath.ToSlash(dir) + ",file://" + filepath.ToSlash(cache) + "/cache/download," + proxy,
		"GOMODCACHE=" + filepath.Join(dir, "cache"), "GOSUMDB=off", "GONOSUMDB=", "GOPRIVATE=", "GONOPROXY=", "GOWORK=off", "GOBIN=" + bin,
		"GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0", // as a release is: the standard library and packages of others are compiled already
	}
	empty := t.TempDir()
	execute(t, empty, env, "go", "install", ownModule+"/cmd/gowhy@"+version)
	if out := execute(t, empty, nil, filepath.Join(bin, "gowhy"), "version"); !strings.HasPrefix(out, "gowhy "+version+" ") {
		t.Errorf("installed, gowhy version prints %q, want %s", out, version)
	}

	module := t.TempDir()
	execute(t, module, env, "go", "mod", "init", "example.org/scratch")
	execute(t, module, env, "go", "get", "-tool", ownModule+"/cmd/gowhy@"+version)
	if out := execute(t, module, env, "go", "tool", "gowhy", "version"); !strings.HasPrefix(out, "gowhy "+version+" ") {
		t.Errorf("as a tool, gowhy version prints %q, want %s", out, version)
	}
	// A user of the agent gets the agent and no more.
	user := t.TempDir()
	if err := os.WriteFile(filepath.Join(user, "main.go"), []byte("package main\n\nimport _ \""+ownModule+"/agent\"\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	execute(t, user, env, "go", "mod", "init", "example.org/user")
	execute(t, user, env, "go", "get", ownModule+"/agent@"+agent)
	execute(t, user, env, "go", "build", "-o", "user", ".")
	if out := strings.Fields(execute(t, user, env, "go", "list", "-m", "-f", "{{.Path}}", "all")); !slices.Equal(out, []string{"example.org/user", ownModule + "/agent"}) {
		t.Errorf("a user of the agent has the modules %q", out)
	}
}

// requiredAgent returns the version of the agent that go.mod requires.
func requiredAgent(t *testing.T) string {
	t.Helper()
	version := strings.TrimSpace(execute(t, root, []string{"GOWORK=off"}, "go", "mod", "edit", "-json"))
	_, version, ok := strings.Cut(version, `"`+ownModule+`/agent"`)
	_, version, _ = strings.Cut(version, `"Version": "`)
	version, _, _ = strings.Cut(version, `"`)
	if !ok || !strings.HasPrefix(version, "v") {
		t.Fatalf("go.mod requires no agent, but %q", version)
	}
	return version
}

// publish puts a module of the tree into a proxy's folder, as a version: what the go
// command makes of a tag.
func publish(t *testing.T, proxy, module, version, below string) {
	t.Helper()
	files := treeFiles(t)
	var nested []string // folders with modules of their own
	for _, f := range files {
		if path.Base(f) == "go.mod" && f != below+"go.mod" && strings.HasPrefix(f, below) {
			nested = append(nested, path.Dir(f)+"/")
		}
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	licensed := false
	add := func(name, from string) error {
		data, err := os.ReadFile(filepath.Join(root, from))
		if errors.Is(err, os.ErrNotExist) {
			return nil // removed and not committed
		}
		w, werr := z.Create(module + "@" + version + "/" + name)
		if err := errors.Join(err, werr); err != nil {
			return err
		}
		licensed = licensed || name == "LICENSE"
		_, err = w.Write(data)
		return err
	}
	for _, f := range files {
		name, ok := strings.CutPrefix(f, below)
		if !ok || slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(f, dir) }) {
			continue
		}
		if err := add(name, f); err != nil {
			t.Fatal(err)
		}
	}
	if !licensed { // the go command takes that of the repository
		if err := add("LICENSE", "LICENSE"); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile(filepath.Join(root, below, "go.mod"))
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Format(time.RFC3339))
	err = errors.Join(err, z.Close(), os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, version+".zip"), b.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, version+".mod"), mod, 0o644), os.WriteFile(filepath.Join(dir, version+".info"), []byte(info), 0o644), os.WriteFile(filepath.Join(dir, "list"), []byte(version+"\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
}

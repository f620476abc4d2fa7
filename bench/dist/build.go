package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// compile builds the command for a system. Paths, the linker's own number of the
// build, tables for debuggers (gowhy and its tracebacks read others), and what the
// environment of whoever builds says stay out of it.
func compile(ctx context.Context, t target, dir string, at time.Time) (*build, error) {
	b := &build{target: t, at: at, file: filepath.Join(dir, t.String(), "gowhy")}
	if t.os == "windows" {
		b.file += ".exe"
	}
	env := []string{"CGO_ENABLED=0", "GOFLAGS=", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off"}
	if _, err := command(ctx, env, "go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w -buildid=", "-o", b.file, "./cmd/gowhy"); err != nil {
		return nil, fmt.Errorf("%w\nhint: run it in the root of the checkout", err)
	}
	info, err := buildinfo.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	v, ok := strings.CutPrefix(info.Main.Version, "v")
	if !ok {
		return nil, fmt.Errorf("the binary has the version %q\nhint: build it in a clone: the go command takes the version from its tag or commit, and does not look into worktrees of git", info.Main.Version)
	}
	b.version = v
	b.data, err = os.ReadFile(b.file)
	return b, err
}

// shellScripts are the completions, by the names they have in an archive.
var shellScripts = map[string]string{"bash": "gowhy.bash", "zsh": "_gowhy", "fish": "gowhy.fish"}

// documents returns what goes with every binary, by the names in an archive. The command
// says them itself, so a binary for this machine is built: they are the same on all.
func documents(ctx context.Context, dir string) (list []file, err error) {
	host, err := compile(ctx, target{runtime.GOOS, runtime.GOARCH}, filepath.Join(dir, "host"), time.Time{})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "README.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, file{name, 0o644, data})
	}
	add := func(name string, args ...string) error {
		text, err := command(ctx, nil, host.file, args...)
		list = append(list, file{name, 0o644, []byte(text)})
		return err
	}
	if err := add("licenses.txt", "version", "--licenses"); err != nil {
		return nil, err
	}
	for shell, name := range shellScripts {
		if err := add("completions/"+name, "completion", shell); err != nil {
			return nil, err
		}
	}
	pages := filepath.Join(dir, "man")
	if err := os.Mkdir(pages, 0o755); err != nil {
		return nil, err
	}
	if _, err := command(ctx, nil, host.file, "man", pages); err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(pages, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, file{"man/" + filepath.Base(name), 0o644, data})
	}
	return list, nil
}

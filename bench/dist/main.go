// Dist makes the release: for each system an archive, for Linux packages and an
// image for containers, with a bill of materials for each binary and checksums of
// all of it.
//
//	go run ./bench/dist
//
// The same commit gives the same bytes, wherever and whenever it runs, with the same
// Go: nothing of what it writes knows the directory, the clock or who ran it. The
// time of all files is that of the commit, or SOURCE_DATE_EPOCH.
//
// The fleet's server is another program (fleet/deploy), so packages bring no unit of systemd.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	f := flag.NewFlagSet("dist", flag.ContinueOnError)
	out := f.String("o", "dist", "write to this `DIR`")
	check := f.String("check", "", "compare the files in this `DIR` with its checksums and make nothing")
	notices := f.Bool("licenses", false, "write "+gowhy.file+" and "+fleet.file+", and nothing else")
	plain := f.Bool("archives", false, "make archives only: no packages of Linux, no image")
	only := f.String("only", "", "make it for these `SYSTEMS` only, like linux_amd64,linux_arm64")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch {
	case f.NArg() > 0:
		return fmt.Errorf("%q is no flag\nhint: go run ./bench/dist -o DIR", f.Arg(0))
	case *check != "":
		n, err := verify(*check)
		if err == nil {
			fmt.Fprintf(stdout, "%d files are as %s says\n", n, checksumsFile)
		}
		return err
	case *notices:
		for _, p := range []program{gowhy, fleet} {
			linked, err := p.linkedFolders(ctx)
			if err != nil {
				return err
			}
			text, err := p.licenses(ctx, linked)
			if err == nil {
				err = os.WriteFile(p.file, text, 0o644)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	return release(ctx, *out, chosen, *plain, stdout)
}

// targets are the systems that get a binary. On the last two gowhy reads what was
// recorded elsewhere, and says so where it is asked for more.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// choose returns the targets of a list, all where it is empty.
func choose(list string) (chosen []target, err error) {
	if list == "" {
		return targets, nil
	}
	for _, name := range strings.Split(list, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is no system of a release\nhint: one of %v", name, targets)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

// A build is one binary.
type build struct {
	target
	version string // without the v
	at      time.Time
	data    []byte
	file    string
}

func (b *build) name() string { return "gowhy_" + b.version + "_" + b.target.String() }

func release(ctx context.Context, out string, chosen []target, plain bool, stdout io.Writer) error {
	at, err := commitTime(ctx)
	if err != nil {
		return err
	}
	if err := makeRoom(out); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "gowhy-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	var builds []*build
	for _, t := range chosen {
		b, err := compile(ctx, t, tmp, at)
		if err != nil {
			return err
		}
		builds = append(builds, b)
	}
	docs, err := documents(ctx, tmp)
	if err != nil {
		return err
	}
	for _, b := range builds {
		data, err := archive(b, docs)
		if err == nil {
			err = write(out, b.name()+b.extension(), data)
		}
		if err != nil {
			return err
		}
		if data, err = materials(b); err == nil {
			err = write(out, b.name()+".cdx.json", data)
		}
		if err != nil {
			return err
		}
		if !plain && b.os == "linux" {
			if err := packages(ctx, b, docs, tmp, out); err != nil {
				return err
			}
		}
	}
	if !plain && slices.ContainsFunc(chosen, func(t target) bool { return t.os == "linux" }) {
		data, err := image(ctx, builds)
		if err == nil {
			err = write(out, "gowhy_"+builds[0].version+"_oci.tar", data)
		}
		if err != nil {
			return err
		}
	}
	n, err := sum(out)
	if err == nil {
		fmt.Fprintf(stdout, "gowhy %s: %d files in %s\n", builds[0].version, n, out)
	}
	return err
}

func write(dir, name string, data []byte) error {
	return os.WriteFile(filepath.Join(dir, name), data, 0o644)
}

// makeRoom makes the directory, or takes out what an earlier release left there. What is
// there and not of a release stays, and is an error.
func makeRoom(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	list, err := checksums(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, l := range list {
		if err := os.Remove(filepath.Join(dir, l.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(filepath.Join(dir, checksumsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	left, err := os.ReadDir(dir)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s has %s in it, which is of no release\nhint: name an empty directory with -o", dir, left[0].Name())
	}
	return err
}

// commitTime returns what all files are stamped with.
func commitTime(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = command(ctx, nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit: %w\nhint: run it in a git checkout, or set SOURCE_DATE_EPOCH", err)
		}
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH %q is no number of seconds\nhint: SOURCE_DATE_EPOCH=$(git log -1 --format=%%ct)", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// command returns what a command prints; its complaints become the error's.
func command(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

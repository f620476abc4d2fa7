package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
)

// testProcess begins the command as [TestProcess] does.
func testProcess(ctx context.Context, args ...string) *exec.Cmd {
	p := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcess$")
	p.Env = append(os.Environ(), "GOWHY_FLEET_TEST_ARGS="+strings.Join(args, " "))
	return p
}

// TestApart diagnoses in a process of its own: what that finds is the same as here, what fails
// says why, and what needs more memory than it has ends the process alone.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "stacks.folded")
	if err := os.WriteFile(file, []byte("main.main;main.work 100\nmain.main;runtime.mallocgc 30\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want, err := runs.Diagnose(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	diagnose := subprocessDiagnoser(testProcess, 0)
	if got, err := diagnose(t.Context(), file); err != nil || got.State != api.Done || got.Verdict != want.Verdict || len(got.Findings) != len(want.Findings) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := diagnose(t.Context(), filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "no such file") || strings.Contains(err.Error(), "gowhy-fleet:") {
		t.Errorf("a file that is not there: %v", err)
	}
	two := filepath.Join(dir, "two.zip")
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range []string{recording.CPUMember, recording.CPUMember} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, "main.main;main.work 100\n")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), os.WriteFile(two, packed.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := diagnose(t.Context(), two); err == nil || !strings.HasPrefix(err.Error(), "two CPU profiles were given") {
		t.Errorf("two profiles: %v; memory has nothing to do with it", err)
	}
	if runtime.GOOS == "linux" {
		large := filepath.Join(dir, "large.folded") // a small one fits into what a process begins with
		var stacks bytes.Buffer
		for i := range 200_000 {
			fmt.Fprintf(&stacks, "main.main;main.work%d;main.step%d 1\n", i, i)
		}
		if err := os.WriteFile(large, stacks.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := subprocessDiagnoser(func(ctx context.Context, args ...string) *exec.Cmd {
			return testProcess(ctx, "diagnose", "--memory", "1", args[len(args)-1])
		}, 0)(t.Context(), large)
		if err == nil || !strings.Contains(err.Error(), "with 256 MiB of memory it ended (") {
			t.Errorf("with a MiB: %v", err)
		}
	}
}

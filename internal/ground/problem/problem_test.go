package problem

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	e := New(Misuse, "--a './app'", "cannot read %q: %w", "a", fs.ErrNotExist)
	if want := (Error{Misuse, `cannot read "a": file does not exist`, "--a './app'", fs.ErrNotExist}); *e != want {
		t.Errorf("New gave %#v, want %#v", *e, want)
	}
	if e := New(Failure, "", "it has %v", fs.ErrNotExist); e.Err != nil {
		t.Errorf("a cause that was only printed was wrapped: %v", e.Err)
	}
}

func TestIs(t *testing.T) {
	wrapped := fmt.Errorf("arm A: %w", New(Absence, "gowhy list", "there is no process 1: %w", fs.ErrPermission))
	if !Is(wrapped, Absence) || Is(wrapped, Failure) {
		t.Error("the kind of a wrapped problem was not found")
	}
	if !errors.Is(wrapped, fs.ErrPermission) {
		t.Error("the cause of a wrapped problem was not found")
	}
	if Is(nil, Failure) || Is(fs.ErrExist, Failure) {
		t.Error("an error that is no problem has a kind")
	}
}

func TestUnknown(t *testing.T) {
	known := []string{"net", "sync", "running time"}
	for value, hint := range map[string]string{
		"snyc": "--profile sync", "SYNC": "--profile sync", "run": "--profile 'running time'", "nothing like it": "--profile net", "": "--profile net",
	} {
		e := Unknown("profile", value, known, "no profile %q", value)
		if e.Kind != Misuse || e.Hint != hint {
			t.Errorf("Unknown(%q): hint %q, want %q", value, e.Hint, hint)
		}
	}
	if e := Unknown("profile", "x", nil, "none"); e.Hint != "" {
		t.Errorf("without any: %q", e.Hint)
	}
}

func TestNear(t *testing.T) {
	known := []string{"listen", "tokens"}
	for wrong, want := range map[string]string{"lisen": "listen", "token": "tokens", "Tokns": "tokens", "x": "", "": "", strings.Repeat("listen", 1000): ""} {
		if got, ok := Correction(wrong, known); ok != (want != "") || ok && got != want {
			t.Errorf("Near(%.20q) = %q, %v, want %q", wrong, got, ok, want)
		}
	}
}

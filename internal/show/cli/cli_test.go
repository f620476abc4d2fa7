package cli

import (
	"bytes"
	"io"
	"log"
	"os"
	"testing"
)

// What libraries write through package log does not reach the terminal.
func TestLibrariesAreSilent(t *testing.T) {
	var b bytes.Buffer
	log.SetOutput(&b)
	defer log.SetOutput(os.Stderr)
	if code := Main(Options{Args: []string{"version"}, Stdin: &bytes.Buffer{}, Stdout: io.Discard, Stderr: io.Discard}); code != exitWell {
		t.Fatalf("gowhy version: exit code %d, want 0", code)
	}
	log.Print("Unsolicited response received")
	if b.Len() > 0 {
		t.Errorf("package log still writes %q", b.String())
	}
}

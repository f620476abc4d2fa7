package exectrace

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corpus"
	xtrace "golang.org/x/exp/trace"
)

// roundTrip checks that a trace comes back from its text byte by byte.
func roundTrip(t *testing.T, data []byte) string {
	t.Helper()
	var text bytes.Buffer
	if err := writeText(&text, data); err != nil {
		t.Fatal(err)
	}
	back, err := corpus.ParseText(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, data) {
		n := 0
		for n < min(len(back), len(data)) && back[n] == data[n] {
			n++
		}
		t.Fatalf("ParseText(writeText) = %d bytes, want the same %d; they differ from %d on", len(back), len(data), n)
	}
	return text.String()
}

func TestTextOfOwnTrace(t *testing.T) {
	data, err := recording()
	if err != nil {
		t.Skip("tracing is on already:", err)
	}
	text := roundTrip(t, data)
	for _, want := range []string{"Trace Go1.", "GoBlock dt=", "chan receive", "exectrace.busy", "EndOfGeneration"} {
		if !strings.Contains(text, want) {
			t.Errorf("writeText has no %q", want)
		}
	}
	if strings.Contains(text, "Hex") {
		t.Error("writeText of a whole trace has Hex, want events only")
	}
}

func TestTextOfDamage(t *testing.T) {
	data, err := recording()
	if err != nil {
		t.Skip("tracing is on already:", err)
	}
	data = data[:min(len(data), 300_000)] // cut within a batch
	roundTrip(t, data)
	for at := headerSize; at < len(data); at += len(data) / 11 {
		hurt := bytes.Clone(data)
		hurt[at] ^= 0xff
		roundTrip(t, hurt)
		hurt = append(bytes.Clone(data[:at]), make([]byte, 5000)...)
		roundTrip(t, append(hurt, data[at:]...))
	}
	roundTrip(t, []byte("go 1.26 trace\x00\x00\x00\x01\x02\x03"))
}

func TestTextFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/text/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			data, err := corpus.ParseText(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			got := roundTrip(t, data)
			if again, err := corpus.ParseText(strings.NewReader(got)); err != nil || !bytes.Equal(again, data) {
				t.Errorf("ParseText(%q) = %d bytes, %v, want the same %d", got, len(again), err, len(data))
			}
			expectation(t, "SUCCESS", data)
			equalEvents(t, data)
			agree(t, orderedAccounts(t, data, Options{}), replayAccounts(t, data, Options{}))
		})
	}
}

// referenceTests returns the traces that golang.org/x/exp/trace is tested with.
func referenceTests(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/exp").Output()
	if err != nil {
		t.Skip("the go command cannot be had:", err)
	}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "trace/testdata/tests/*.test"))
	if len(files) == 0 {
		t.Skip("golang.org/x/exp is here without its test data")
	}
	return files
}

// archive returns the sections of a text archive.
func archive(data string) map[string]string {
	out := map[string]string{}
	marks := regexp.MustCompile(`(?m)^-- (\S+) --\n`).FindAllStringSubmatchIndex(data, -1)
	for i, m := range marks {
		end := len(data)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		out[data[m[2]:m[3]]] = data[m[1]:end]
	}
	return out
}

func TestReferenceTestData(t *testing.T) {
	for _, file := range referenceTests(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := archive(string(text))
			data, err := corpus.ParseText(strings.NewReader(parts["trace"]))
			if err != nil {
				t.Fatal(err)
			}
			roundTrip(t, data)
			equalEvents(t, data)
			expectation(t, parts["expect"], data)
		})
	}
}

// expectation checks that strict reading ends as the test data says.
func expectation(t *testing.T, expect string, data []byte) {
	t.Helper()
	var failed error
	for _, err := range mustRead(t, data).Events(EventOptions{reference: true}) {
		failed = err
	}
	word, pattern, _ := strings.Cut(strings.TrimSpace(expect), " ")
	if (failed != nil) != (word == "FAILURE") {
		t.Fatalf("Events() = %v, want %s %s", failed, word, pattern)
	}
	// Our words differ; that the reference fails for the reason of the test
	// shows that the trace is the one that is meant.
	if failed == nil {
		return
	}
	unquoted, err := strconv.Unquote(pattern)
	if err != nil {
		t.Fatal(err)
	}
	r, err := xtrace.NewReader(bytes.NewReader(data))
	for err == nil {
		_, err = r.ReadEvent()
	}
	if errors.Is(err, io.EOF) || !regexp.MustCompile(unquoted).MatchString(err.Error()) {
		t.Errorf("error of the reference = %v, want %q", err, unquoted)
	}
}

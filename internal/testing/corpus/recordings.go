package corpus

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Recordings are small ones of [Programs] that were made on a quiet machine. By
// them the plain go test says the same on every machine; what it cannot see are
// the traces of the toolchain and the machine at hand.
//
//go:embed testdata/recordings
var recordings embed.FS

const recordingsDir = "testdata/recordings"

// recordedSpecs returns the traces that are kept.
func recordedSpecs() []Spec {
	list := local()
	for _, program := range OldPrograms {
		list = append(list, Old(program))
	}
	return list
}

// file returns the name of the recording of s.
func (s Spec) file() string {
	name := s.String()
	if s.Toolchain == "" {
		name = strings.Replace(name, "/"+localVersion, "", 1)
	}
	return strings.ReplaceAll(name, "/", "-") + ".trace.gz"
}

// small is s as it is recorded to be kept.
func (s Spec) small() Spec {
	s.Bytes /= 5
	s.Duration /= 2
	s.Advance /= 3
	return s
}

// unpackRecording unpacks the recording of s, and gives its path; "" when there is none.
func (s Spec) unpackRecording(t testing.TB) string {
	t.Helper()
	data, err := fs.ReadFile(recordings, recordingsDir+"/"+s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	var z *gzip.Reader
	if err == nil {
		z, err = gzip.NewReader(bytes.NewReader(data))
	}
	if err == nil {
		data, err = io.ReadAll(z)
	}
	path := filepath.Join(t.TempDir(), s.Program+".trace")
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

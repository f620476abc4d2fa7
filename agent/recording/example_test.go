package recording_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// A recorder collects members beside each other, and packs them at the end.
func ExampleWriter() {
	dir, err := os.MkdirTemp("", "recording")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "run.gowhy")

	w, err := recording.Create(file)
	if err != nil {
		log.Fatal(err)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err = w.Add(recording.StderrMember, []byte("listening on :8080\n"))
	if err == nil { // what another program writes goes to a path
		err = os.WriteFile(w.Path(recording.LoadMember), []byte("Requests/sec: 512\n"), 0o600)
	}
	if err != nil {
		w.Discard()
		log.Fatal(err)
	}
	err = w.Finish(recording.Manifest{Start: begin, End: begin.Add(10 * time.Second), Go: "go1.26.8", Command: []string{"./shop"}})
	if err != nil {
		log.Fatal(err)
	}

	r, err := recording.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	fmt.Println(r.Manifest.Command, r.Manifest.Go, r.Manifest.End.Sub(r.Manifest.Start))
	for _, m := range r.Members {
		content, err := m.Open()
		if err != nil {
			log.Fatal(err)
		}
		text, err := io.ReadAll(content)
		content.Close()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %s", m.Name, text)
	}
	// Output:
	// [./shop] go1.26.8 10s
	// load: Requests/sec: 512
	// stderr.log: listening on :8080
}

// What arrived before a connection broke is a recording, and says that it was cut.
func ExampleStream() {
	var connection bytes.Buffer
	s := recording.NewStream(&connection)
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err := s.Start(recording.Manifest{Start: begin, Go: "go1.26.8"})
	if err == nil {
		err = s.Add(recording.BuildMember, []byte("path example.com/shop\n"))
	}
	if err != nil {
		log.Fatal(err)
	}
	w, err := s.Begin(recording.StderrMember) // a member that is written while it comes to be
	if err != nil {
		log.Fatal(err)
	}
	io.WriteString(w, "listening on :8080\n")
	// Here the program dies, before Finish.

	r, err := recording.NewReader(bytes.NewReader(connection.Bytes()), int64(connection.Len()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("cut:", r.Cut, "of a program built with", r.Manifest.Go)
	for _, m := range r.Members {
		fmt.Println(m.Name, m.Size, "bytes, cut:", m.Cut)
	}
	// Output:
	// cut: true of a program built with go1.26.8
	// build.txt 22 bytes, cut: false
	// stderr.log 19 bytes, cut: true
}

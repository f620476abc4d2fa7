package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// What a goroutine writes before it waits again is a row: eight answers to as many questions that came at once, or one.
func TestWriteRows(t *testing.T) {
	// A machine that others fill has a question come in pieces, with a wait in between.
	if err := attempt.Repeat(t, func() error { return rowsAre(t) }); err != nil {
		t.Error(err)
	}
}

// rowsAre has servers answer eight questions at a time; the error is that a row is not as long as it was.
func rowsAre(t *testing.T) error {
	const rounds, questions = 40, 8
	recorded := traceHere(t)
	var wg sync.WaitGroup
	for _, serve := range []func(net.Conn){flushesEach, flushesLast} {
		client, server := connected(t)
		wg.Go(func() { serve(server) })
		wg.Go(func() {
			defer client.Close()
			answers := make([]byte, questions)
			for range rounds {
				if _, err := client.Write(bytes.Repeat([]byte("?"), questions)); err != nil {
					t.Error(err)
				}
				if _, err := io.ReadFull(client, answers); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	m := load(t, Options{NoSource: true}, recorded())
	var wrong []error
	for name, each := range map[string]float64{"flushesEach": questions, "flushesLast": 1} {
		found := false
		for _, r := range m.Sched.WriteRows {
			for _, f := range m.Stacks.Frames(r.Stack) {
				if !strings.HasSuffix(f.Func, "."+name) {
					continue
				}
				found = true
				if got := float64(r.Calls) / float64(r.Rows); got < 0.8*each || got > 1.2*each {
					wrong = append(wrong, fmt.Errorf("%s makes %d writes in %d rows, want %v in each", name, r.Calls, r.Rows, each))
				}
			}
		}
		if !found {
			wrong = append(wrong, fmt.Errorf("no write of %s is known", name))
		}
	}
	return errors.Join(wrong...)
}

// TestReadRows has a goroutine read eight times at places in a file for each question.
func TestReadRows(t *testing.T) {
	const rounds, reads = 40, 8
	name := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(name, make([]byte, 64*reads), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recorded := traceHere(t)
	questions, answers := make(chan int), make(chan error)
	go func() {
		for range questions {
			answers <- searches(f, reads)
		}
	}()
	for i := range rounds {
		questions <- i
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	close(questions)
	m := load(t, Options{NoSource: true}, recorded())
	if len(m.Sched.ReadRows) != 1 || len(m.Sched.WriteRows) != 0 {
		t.Fatalf("%d lines read and %d write in rows, want one that reads", len(m.Sched.ReadRows), len(m.Sched.WriteRows))
	}
	r := m.Sched.ReadRows[0]
	if r.Calls != rounds*reads || r.Rows != rounds {
		t.Errorf("%d reads in %d rows, want %d in %d", r.Calls, r.Rows, rounds*reads, rounds)
	}
	if frames := m.Stacks.Frames(r.Stack); !slices.ContainsFunc(frames, func(f model.Frame) bool { return strings.HasSuffix(f.Func, ".searches") }) {
		t.Errorf("they are made by %v, want searches", frames)
	}
}

// searches reads at some places in a file, one after the other.
func searches(f *os.File, n int) error {
	for i := range n {
		if _, err := f.ReadAt(make([]byte, 24), int64(64*i)); err != nil {
			return err
		}
	}
	return nil
}

// connected returns both ends of a connection.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		server.Close()
	})
	return client, server
}

// flushesEach writes each answer at once.
func flushesEach(c net.Conn) {
	r, w := bufio.NewReader(c), bufio.NewWriter(c)
	for {
		if _, err := r.ReadByte(); err != nil {
			return
		}
		w.WriteByte('!')
		w.Flush()
	}
}

// flushesLast writes when nothing more has come.
func flushesLast(c net.Conn) {
	r, w := bufio.NewReader(c), bufio.NewWriter(c)
	for {
		if _, err := r.ReadByte(); err != nil {
			return
		}
		w.WriteByte('!')
		if r.Buffered() == 0 {
			w.Flush()
		}
	}
}

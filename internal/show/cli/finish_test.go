package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// A recording that nobody finishes is offered, finished once, and not over another.
func TestFinish(t *testing.T) {
	out := filepath.Join(t.TempDir(), "run.gowhy")
	var left string
	leave := func() *recording.Writer {
		w, err := recording.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		left = filepath.Dir(w.Path("x"))
		if err := w.Begin(recording.Manifest{Start: time.Now().Add(-time.Minute)}); err != nil {
			t.Fatal(err)
		}
		if err := w.Add(recording.GCTraceMember, []byte("gc 1 @0.1s\n")); err != nil {
			t.Fatal(err)
		}
		return w
	}
	leave()
	var said bytes.Buffer
	c := &command{Options: Options{Stderr: &said}}

	f, err := os.Open(filepath.Join(left, recording.GCTraceMember)) // as its recorder has
	if err != nil {
		t.Fatal(err)
	}
	c.offerUnfinished(filepath.Dir(out))
	if err := c.finish(left, ""); err == nil || !strings.Contains(err.Error(), "being recorded") || said.Len() > 0 {
		t.Errorf("while it is recorded: %v, %q; want an error, and no offer", err, said.String())
	}
	f.Close()
	c.offerUnfinished(filepath.Dir(out))
	if !strings.Contains(said.String(), "nobody finished") || !strings.Contains(said.String(), "gowhy record --finish "+left) {
		t.Errorf("the offer: %q", said.String())
	}
	if err := c.finish(left, ""); err != nil {
		t.Fatal(err)
	}
	if rec, err := recording.Open(out); err != nil || rec.Manifest == nil || len(rec.Members) != 1 {
		t.Errorf("Open() of what was finished = %+v, %v, want a manifest and one member", rec, err)
	} else {
		rec.Close()
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("the directory stays")
	}
	leave()
	if err := c.finish(left, ""); err == nil || !strings.Contains(err.Error(), "there already") {
		t.Errorf("over another recording: %v", err)
	}
	if err := c.finish(left, out+"2"); err != nil {
		t.Error(err)
	}
	if err := c.finish(filepath.Join(filepath.Dir(out), "nothing"), ""); err == nil {
		t.Error("nothing was finished")
	}
}

// A recording of a program that was killed for want of memory is offered, no other.
func TestOfferKilled(t *testing.T) {
	dir := t.TempDir()
	end := time.Now().Add(-time.Hour)
	for name, kind := range map[string]string{"killed.gowhy": recording.EndedByMemory, "exit.gowhy": recording.EndedByExit} {
		w, err := recording.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Add(recording.GCTraceMember, []byte("gc 1 @0.1s\n")); err != nil {
			t.Fatal(err)
		}
		if err := w.Finish(recording.Manifest{End: end, Event: &recording.Event{Kind: "memory"},
			Ended: &recording.Ending{Kind: kind, Time: end.Add(11 * time.Second), Of: "memory.max", Limit: 256 << 20}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "none.gowhy"), []byte("no recording"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	c := &command{Options: Options{Stderr: &said}}
	c.offerKilled(dir)
	got := strings.Join(strings.Fields(said.String()), " ")
	for _, want := range []string{"killed.gowhy: the program was killed at ", "by the memory limit, memory.max (256 MiB); the evidence is from 11.0 s before", "gowhy " + dir + "/killed.gowhy"} {
		if !strings.Contains(got, want) {
			t.Errorf("the offer %q, want %q in it", got, want)
		}
	}
	if strings.Contains(got, "exit.gowhy") || strings.Contains(got, "none.gowhy") {
		t.Errorf("%q offers others, too", got)
	}
}

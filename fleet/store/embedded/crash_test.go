package embedded

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// batchOf returns a batch that an answer shows: its stack is its number, its value 1.
func batchOf(number int) *store.Batch {
	id := store.StackID(number + 1)
	b := &store.Batch{
		Source: store.Source{Service: "cart", Instance: "a"},
		From:   storetest.Start, Until: storetest.Start.Add(time.Duration(number) * time.Second),
		Profiles: []store.Profile{{Type: store.CPU, Samples: []store.Sample{{Stack: id, Value: 1}}}},
		Stacks:   map[store.StackID][]*store.Frame{id: {{Function: fmt.Sprintf("main.f%d", number)}}},
	}
	binary.LittleEndian.PutUint64(b.ID[:], uint64(number))
	return b
}

// holds checks that a store has the batches of batchOf up to some, perhaps one more, each
// once and with its frames.
func holds(t *testing.T, s *Store, acknowledged int) {
	t.Helper()
	stacks, err := s.Stacks(context.Background(), store.Selection{Type: store.CPU})
	if err != nil {
		t.Fatal(err)
	}
	services, err := s.Services(context.Background(), store.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	n := len(stacks.Samples)
	if n < acknowledged || n > acknowledged+1 || stacks.Total != int64(n) {
		t.Fatalf("%d batches of the total %d, want %d acknowledged, or one more", n, stacks.Total, acknowledged)
	}
	if n > 0 && (len(services.Services) != 1 || services.Services[0].Totals[0].Value != int64(n)) {
		t.Fatalf("totals are %+v, want one of %d", services.Services, n)
	}
	for i, sample := range stacks.Samples { // of equal values, by ID
		want := fmt.Sprintf("main.f%d", i)
		if frames := stacks.Frames[sample.Stack]; sample.Stack != store.StackID(i+1) || len(frames) != 1 || frames[0].Function != want {
			t.Fatalf("sample %d is %+v with %v, want %s", i, sample, stacks.Frames[sample.Stack], want)
		}
	}
}

// A hookDisk calls a function before each thing it does.
type hookDisk struct {
	osDisk
	before func(what string) error
}

type hookFile struct {
	file
	disk *hookDisk
}

func (d *hookDisk) openFile(path string, flag int) (file, error) {
	if err := d.before("open"); err != nil {
		return nil, err
	}
	f, err := d.osDisk.openFile(path, flag)
	return &hookFile{f, d}, err
}

func (d *hookDisk) rename(from, to string) error {
	return errors.Join(d.before("rename"), d.osDisk.rename(from, to))
}

func (d *hookDisk) syncDir(path string) error {
	return errors.Join(d.before("syncdir"), d.osDisk.syncDir(path))
}

func (d *hookDisk) remove(path string) error {
	return errors.Join(d.before("remove"), d.osDisk.remove(path))
}

func (f *hookFile) Write(p []byte) (int, error) {
	if err := f.disk.before("write"); err != nil {
		n, _ := f.file.Write(p[:len(p)/2]) // a full disk takes a part
		return n, err
	}
	return f.file.Write(p)
}

func (f *hookFile) Sync() error { return errors.Join(f.disk.before("sync"), f.file.Sync()) }

// The directory as it is before each write, fsync, rename and removal of a store that flushes,
// merges and drops opens with all that was acknowledged by then.
func TestOpenAfterCrash(t *testing.T) {
	type moment struct {
		dir          string
		acknowledged int
	}
	var moments []moment
	acknowledged := 0
	dir, copies := t.TempDir(), t.TempDir()
	disk := &hookDisk{before: func(what string) error {
		to := filepath.Join(copies, fmt.Sprintf("%03d-%s", len(moments), what))
		moments = append(moments, moment{to, acknowledged})
		return os.CopyFS(to, os.DirFS(dir))
	}}
	s := mustOpen(t, dir, Options{disk: disk})
	for i := range 40 {
		if err := s.Write(t.Context(), batchOf(i)); err != nil {
			t.Fatal(err)
		}
		acknowledged++
		if i%6 == 5 {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(moments) < 150 {
		t.Fatalf("only %d moments", len(moments))
	}
	for _, m := range moments {
		s, err := Open(m.dir, Options{})
		if err != nil {
			t.Fatalf("%s: %v", m.dir, err)
		}
		holds(t, s, m.acknowledged)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

const childDirectory = "GOWHY_TEST_EMBEDDED_DIRECTORY"

// TestMain writes batches without an end where a test starts it as a child.
func TestMain(m *testing.M) {
	dir := os.Getenv(childDirectory)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := Open(dir, Options{Memory: 4 << 10})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	stacks, err := s.Stacks(context.Background(), store.Selection{Type: store.CPU})
	for i := len(stacks.Samples); err == nil; {
		err = s.Write(context.Background(), batchOf(i))
		if err == nil {
			fmt.Println("kept", i)
			i++
		} else if errors.Is(err, store.ErrFull) {
			err = s.Flush(context.Background())
		}
	}
	fmt.Println("error", err)
	os.Exit(1)
}

// What a process acknowledged is there after kill -9, several times in a row.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	last := -1
	for range 4 {
		last = writeUntilKilled(t, dir, last+150)
		s := mustOpen(t, dir, Options{})
		holds(t, s, last+1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeUntilKilled kills a child once it has kept a batch, and is the last it has kept.
func writeUntilKilled(t *testing.T, dir string, until int) (last int) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childDirectory+"="+dir)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "kept %d", &last); err != nil {
			t.Errorf("the child says %q", lines.Text())
		}
		if last == until {
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("the child ended by itself")
	}
	return last
}

// On a full disk writers get errors and nothing that was kept is lost; with room again
// all goes on.
func TestFullDisk(t *testing.T) {
	var mu sync.Mutex
	full := false
	setFull := func(is bool) { mu.Lock(); full = is; mu.Unlock() }
	disk := &hookDisk{before: func(what string) error {
		mu.Lock()
		defer mu.Unlock()
		if full && (what == "write" || what == "open") {
			return syscall.ENOSPC
		}
		return nil
	}}
	dir := t.TempDir()
	s := mustOpen(t, dir, Options{disk: disk})
	write := func(number int) error { return s.Write(t.Context(), batchOf(number)) }
	for i := range 10 {
		if err := write(i); err != nil {
			t.Fatal(err)
		}
		setFull(true)
		if err := write(i + 1); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("write on a full disk: %v", err)
		}
		if err := s.Flush(t.Context()); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("flush on a full disk: %v", err)
		}
		holds(t, s, i+1)
		setFull(false)
		if i%2 == 0 {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatalf("flush with room again: %v", err)
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	holds(t, mustOpen(t, dir, Options{}), 10)
}

// A table that cannot be flushed makes writers wait with ErrFull, which says why.
func TestFullWhenFlushFails(t *testing.T) {
	refuse := errors.New("no segments today")
	var mu sync.Mutex
	var failure error
	disk := &hookDisk{}
	disk.before = func(what string) error {
		mu.Lock()
		defer mu.Unlock()
		if what == "rename" {
			return failure
		}
		return nil
	}
	failure = refuse
	s := mustOpen(t, t.TempDir(), Options{disk: disk, Memory: 2000})
	var err error
	kept := 0
	for ; err == nil && kept < 100; kept++ {
		err = s.Write(t.Context(), batchOf(kept))
	}
	kept--
	if !errors.Is(err, store.ErrFull) {
		t.Fatalf("after %d batches: %v, want ErrFull", kept, err)
	}
	if err := s.Flush(t.Context()); !errors.Is(err, refuse) {
		t.Fatalf("flush: %v, want the disk's error", err)
	}
	if err := s.Write(t.Context(), batchOf(kept)); !errors.Is(err, store.ErrFull) || !errors.Is(err, refuse) {
		t.Errorf("write: %v, want ErrFull and why", err)
	}
	holds(t, s, kept)
	mu.Lock()
	failure = nil
	mu.Unlock()
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), batchOf(kept)); err != nil {
		t.Errorf("write with room again: %v", err)
	}
	holds(t, s, kept+1)
}

// After a failed fsync nobody knows what is on the disk: the log takes nothing more.
func TestFailedSync(t *testing.T) {
	failed := errors.New("I/O error")
	broken := false
	disk := &hookDisk{}
	disk.before = func(what string) error {
		if broken && what == "sync" {
			broken = false // the kernel says it once
			return failed
		}
		return nil
	}
	s := mustOpen(t, t.TempDir(), Options{disk: disk})
	if err := s.Write(t.Context(), batchOf(0)); err != nil {
		t.Fatal(err)
	}
	broken = true
	for range 2 {
		if err := s.Write(t.Context(), batchOf(1)); !errors.Is(err, failed) || !strings.Contains(err.Error(), "open the store again") {
			t.Errorf("write: %v, want the error of the fsync", err)
		}
	}
	holds(t, s, 1)
}

// A flush that fails after its files are there leaves none of them.
func TestFailedFlushLeavesNothing(t *testing.T) {
	failed := errors.New("I/O error")
	broken := false
	disk := &hookDisk{before: func(what string) error {
		if broken && what == "syncdir" {
			broken = false
			return failed
		}
		return nil
	}}
	s := mustOpen(t, t.TempDir(), Options{disk: disk})
	if err := s.Write(t.Context(), batchOf(0)); err != nil {
		t.Fatal(err)
	}
	if err := s.send(t.Context(), &request{done: make(chan error, 1)}); err != nil { // freezes the table
		t.Fatal(err)
	}
	broken = true
	if err := s.flushFrozen(); !errors.Is(err, failed) {
		t.Fatalf("flush: %v, want the error of the directory", err)
	}
	if files := segmentFiles(t, s); len(files) != 0 {
		t.Errorf("%q are left", files)
	}
	holds(t, s, 1)
	if err := s.flushFrozen(); err != nil {
		t.Fatal(err)
	}
	holds(t, s, 1)
}

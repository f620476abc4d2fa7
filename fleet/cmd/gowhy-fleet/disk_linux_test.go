package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// field appends a field of a message of protocol buffers.
func field(b []byte, number int, body []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(body))), body...)
}

// random returns a profile of one sample of a nanosecond, in a function whose name no disk packs.
func random(number uint64) []byte {
	name := make([]byte, 0, 1<<13)
	for r := rand.New(rand.NewPCG(number, 0)); len(name) < cap(name); {
		name = append(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_."[r.IntN(64)])
	}
	p := field(nil, 1, []byte{1 << 3, 1, 2 << 3, 2})
	p = field(p, 2, []byte{1 << 3, 1, 2 << 3, 1})
	p = field(p, 4, []byte{1 << 3, 1, 4<<3 | 2, 2, 1 << 3, 1})
	p = field(p, 5, []byte{1 << 3, 1, 2 << 3, 3})
	for _, text := range []string{"", "cpu", "nanoseconds", string(name)} {
		p = field(p, 6, []byte(text))
	}
	return field(p, 11, []byte{1 << 3, 1, 2 << 3, 2})
}

// TestDiskFull fills the disk of a server, gives it room again, and starts it anew.
func TestDiskFull(t *testing.T) {
	attempt.Only(t, "it mounts a disk of some megabytes")
	if os.Geteuid() != 0 {
		t.Skip("only root mounts disks")
	}
	t.Run("in the log", func(t *testing.T) { diskFull(t, "12m", "256", 4<<20) })
	// It may be full while a table becomes segments, which needs some of the room to come to its end.
	t.Run("in segments and the catalog", func(t *testing.T) { diskFull(t, "60m", "128", 16<<20) })
}

func diskFull(t *testing.T, size, memory string, room int) {
	disk := t.TempDir()
	if err := syscall.Mount("gowhy", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skip("mount: ", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, room), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--memory", memory, "--data", filepath.Join(disk, "data")}
	until := time.Now().Unix()
	var url string
	full, fulls := false, 0 // whether the last was refused, and how often that began
	push := func(number int) int {
		t.Helper()
		a, err := http.Post(fmt.Sprintf("%s/ingest?name=shop{host=h%d}&from=%d&until=%d", url, number%7, until-10, until), "application/octet-stream", bytes.NewReader(random(uint64(number))))
		if err != nil {
			t.Fatal(err)
		}
		said, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if strings.Contains(string(said), disk) {
			t.Errorf("a client learns where the files are: %s", said)
		}
		if a.StatusCode != http.StatusOK && a.Header.Get("Retry-After") == "" {
			t.Errorf("%d without a time to come again: %s", a.StatusCode, said)
		}
		if refused := a.StatusCode != http.StatusOK; refused != full {
			if full = refused; refused {
				fulls++
			}
		}
		return a.StatusCode
	}
	total := func() int {
		t.Helper()
		var s struct {
			Services []struct{ Totals map[string]int }
		}
		_, body := got(t, url+"/api/v1/services?from=now-1h")
		if err := json.Unmarshal([]byte(body), &s); err != nil || len(s.Services) != 1 {
			t.Fatalf("%v: %s", err, body)
		}
		return s.Services[0].Totals["process_cpu:cpu:nanoseconds:cpu:nanoseconds"]
	}
	kept := 0
	t.Run("fills", func(t *testing.T) {
		said := new(screen)
		url = beginOn(t, said, args...)
		ready := func() int {
			status, _ := got(t, url+"/ready")
			return status
		}
		// A table that becomes segments is room again, and refuses for a moment meanwhile.
		for refused := 0; refused < 20 || ready() != http.StatusServiceUnavailable; {
			switch status := push(kept); status {
			case http.StatusOK:
				kept, refused = kept+1, 0
			case http.StatusServiceUnavailable, http.StatusTooManyRequests:
				refused++
			default:
				t.Fatalf("on a full disk: %d", status)
			}
			if kept > 20_000 {
				t.Fatal(size, "hold more than 160 MB")
			}
		}
		if n := total(); n != kept {
			t.Errorf("%d are there on a full disk, of %d that were acknowledged", n, kept)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		filled := kept
		// What becomes segments takes of that room, too, so that some is refused and has to come again.
		for end := time.Now().Add(time.Minute); kept < filled+100; {
			if push(kept) == http.StatusOK {
				kept++
			} else if time.Sleep(50 * time.Millisecond); time.Now().After(end) {
				t.Fatalf("with room again: %d are kept of a hundred: %s", kept-filled, said)
			}
		}
		if status := ready(); status != http.StatusOK {
			t.Errorf("/ready with room again: %d", status)
		}
		begins, ends := strings.Count(said.String(), "the store refuses what is sent"), strings.Count(said.String(), "the store keeps what is sent again")
		if begins != ends || begins == 0 || begins > fulls {
			t.Errorf("%d lines that it refuses, %d that it does not, and it began to refuse %d times:\n%s", begins, ends, fulls, said)
		}
		t.Logf("full at %d of 8 KiB; the server said:\n%s", filled, said)
	})
	t.Run("begins with little room", func(t *testing.T) {
		f, err := os.Create(ballast)
		for err == nil {
			_, err = f.Write(make([]byte, 1<<12))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if i, err := f.Stat(); err != nil || f.Truncate(max(0, i.Size()-64<<10)) != nil || f.Close() != nil { // the catalog has 32 KiB of its own
			t.Fatal(err)
		}
		url = begin(t, args...)
		if n := total(); n != kept {
			t.Errorf("%d are there, of %d that were acknowledged", n, kept)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("begins anew", func(t *testing.T) {
		url = begin(t, args...)
		if n := total(); n != kept {
			t.Errorf("%d are there, of %d that were acknowledged", n, kept)
		}
		if push(kept-1) != http.StatusOK || total() != kept {
			t.Error("one that came again counts twice")
		}
	})
}

func got(t *testing.T, url string) (int, string) {
	t.Helper()
	a, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(body)
}

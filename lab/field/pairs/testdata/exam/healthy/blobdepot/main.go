// Blobdepot keeps uploads in files that are named by their SHA-256, the newest of them.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"hash"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

const keep = 120 // blobs

// A depot is a folder of blobs, of which there are at most keep. It can be made again, so
// nothing is synced to the disk.
type depot struct {
	dir string

	mu    sync.Mutex
	names [keep]string // a ring
	next  int
}

// A receiver takes in one upload after another.
type receiver struct {
	depot *depot
	sum   hash.Hash
	block []byte
	name  [sha256.Size]byte
}

func (d *depot) receiver() *receiver {
	return &receiver{depot: d, sum: sha256.New(), block: make([]byte, 128<<10)}
}

// put keeps what r has, and returns its name.
func (v *receiver) put(r io.Reader) (name string, err error) {
	f, err := os.CreateTemp(v.depot.dir, "incoming-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name())
			return
		}
		err = v.depot.admit(f.Name(), name)
	}()
	v.sum.Reset()
	for {
		n, err := io.ReadFull(r, v.block)
		if n > 0 {
			v.sum.Write(v.block[:n])
			if _, err := f.Write(v.block[:n]); err != nil {
				return "", err
			}
		}
		switch {
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return hex.EncodeToString(v.sum.Sum(v.name[:0])), nil
		case err != nil:
			return "", err
		}
	}
}

// admit gives an upload its name, and takes away the oldest blob when there are too many.
func (d *depot) admit(file, name string) error {
	if err := os.Rename(file, filepath.Join(d.dir, name)); err != nil {
		return err
	}
	d.mu.Lock()
	oldest := d.names[d.next]
	d.names[d.next] = name
	d.next = (d.next + 1) % keep
	d.mu.Unlock()
	if oldest == "" {
		return nil
	}
	return os.Remove(filepath.Join(d.dir, oldest))
}

// An upload is a text of so many bytes that comes from somebody else.
type upload struct {
	text []byte
	mark [8]byte
	left int
	seen bool
}

func (u *upload) Read(p []byte) (int, error) {
	if u.left == 0 {
		return 0, io.EOF
	}
	n := 0
	if !u.seen {
		n, u.seen = copy(p, u.mark[:]), true
	}
	n += copy(p[n:], u.text[:min(u.left, len(u.text))])
	n = min(n, u.left)
	u.left -= n
	return n, nil
}

func main() {
	dir := flag.String("dir", os.TempDir(), "where the depot is")
	flag.Parse()
	d := &depot{dir: *dir}
	text, rnd := make([]byte, 1<<20), rand.NewChaCha8([32]byte{1})
	if _, err := rnd.Read(text); err != nil {
		log.Fatal(err)
	}
	clerks := runtime.GOMAXPROCS(0)
	receivers := make([]*receiver, clerks)
	for i := range receivers {
		receivers[i] = d.receiver()
	}
	pace(clerks, func(_ context.Context, clerk, n int) error {
		u := upload{text: text, left: 200_000 + n%7*30_000}
		binary.LittleEndian.PutUint64(u.mark[:], uint64(n))
		_, err := receivers[clerk].put(&u)
		return err
	})
}

// Package tape is the electronic tape on which all tills of a shop write.
package tape

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

type gate interface {
	Lock()
	Unlock()
}

type flagGate struct{ taken atomic.Bool }

func (g *flagGate) Lock() {
	for !g.taken.CompareAndSwap(false, true) {
		runtime.Gosched()
	}
}

func (g *flagGate) Unlock() { g.taken.Store(false) }

// Tape is an append-only file of chained records.
type Tape struct {
	gate  gate
	f     *os.File
	off   int64
	seq   uint64
	chain uint32
	head  [20]byte
}

// Open starts a tape of the given size, which goes round.
func Open(dir string, plain bool) (*Tape, error) {
	f, err := os.CreateTemp(dir, "tape")
	if err != nil {
		return nil, err
	}
	t := &Tape{f: f, gate: &flagGate{}}
	if plain {
		t.gate = &sync.Mutex{}
	}
	return t, nil
}

const size = 8 << 20

// Append writes a record and returns its number.
func (t *Tape) Append(rec []byte) (uint64, error) {
	t.gate.Lock()
	defer t.gate.Unlock()
	t.seq++
	t.chain = crc32.Update(t.chain, crc32.IEEETable, rec)
	binary.LittleEndian.PutUint64(t.head[:], t.seq)
	binary.LittleEndian.PutUint32(t.head[8:], t.chain)
	binary.LittleEndian.PutUint64(t.head[12:], uint64(len(rec)))
	if t.off+int64(len(rec))+20 > size {
		t.off = 0
	}
	if _, err := t.f.WriteAt(append(t.head[:], rec...), t.off); err != nil {
		return 0, fmt.Errorf("tape: record %d: %w", t.seq, err)
	}
	t.off += int64(len(rec)) + 20
	return t.seq, t.settle()
}

// Close ends the tape.
func (t *Tape) Close() error {
	t.f.Close()
	return os.Remove(t.f.Name())
}

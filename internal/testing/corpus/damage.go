package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A Damage is a way to spoil a trace. Do leaves its argument as it is and gives
// the same result for the same seed.
type Damage struct {
	Name string
	Do   func(trace []byte, seed uint64) []byte
}

// Damages are what happens to files: pulled plugs, bad blocks, lost packets.
var Damages = []Damage{
	{"truncated", truncate},
	{"zeroed block", zeroBlock},
	{"one bit flipped", func(b []byte, seed uint64) []byte { return flip(b, seed, 1) }},
	{"twenty bits flipped", func(b []byte, seed uint64) []byte { return flip(b, seed, 20) }},
	{"piece cut out", cut},
	{"garbage inserted", insert},
	{"without its first generation", dropFirst},
}

func source(seed uint64, b []byte) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(len(b)))) }

// place picks n bytes after the header; both bounds lie within b.
func place(r *rand.Rand, b []byte, n int) (from, to int) {
	if len(b) <= headerSize {
		return len(b), len(b)
	}
	n = min(n, len(b)-headerSize)
	from = headerSize + r.IntN(len(b)-headerSize-n+1)
	return from, from + n
}

func truncate(b []byte, seed uint64) []byte {
	at, _ := place(source(seed, b), b, 0)
	return bytes.Clone(b[:at])
}

func zeroBlock(b []byte, seed uint64) []byte {
	out := bytes.Clone(b)
	from, to := place(source(seed, b), b, 4096)
	clear(out[from:to])
	return out
}

func flip(b []byte, seed uint64, n int) []byte {
	out := bytes.Clone(b)
	r := source(seed, b)
	for range n {
		if from, to := place(r, b, 1); from < to {
			out[from] ^= 1 << r.IntN(8)
		}
	}
	return out
}

func cut(b []byte, seed uint64) []byte {
	r := source(seed, b)
	from, to := place(r, b, 1+r.IntN(1+len(b)/10))
	return append(bytes.Clone(b[:from]), b[to:]...)
}

func insert(b []byte, seed uint64) []byte {
	r := source(seed, b)
	at, _ := place(r, b, 0)
	junk := make([]byte, 1+r.IntN(1+len(b)/10))
	for i := range junk {
		junk[i] = byte(r.Uint32())
	}
	return append(append(bytes.Clone(b[:at]), junk...), b[at:]...)
}

func dropFirst(b []byte, _ uint64) []byte {
	head, gens, err := Split(b)
	if err != nil || len(gens) == 0 {
		return bytes.Clone(b)
	}
	return append(bytes.Clone(head), bytes.Join(gens[1:], nil)...)
}

// Split takes a sound trace of Go 1.22 or later apart into its header and its
// generations, in order; the pieces point into b.
func Split(b []byte) (head []byte, gens [][]byte, err error) {
	list, err := batches(b)
	if err != nil {
		return nil, nil, err
	}
	from := headerSize
	for i, x := range list {
		if i+1 == len(list) || list[i+1].gen != x.gen {
			gens = append(gens, b[from:x.to])
			from = x.to
		}
	}
	return b[:headerSize], gens, nil
}

// Permute changes the order in which the threads' batches stand in each
// generation of a sound trace. It means the same: only the order of one
// thread's batches says anything.
func Permute(b []byte, seed uint64) ([]byte, error) {
	list, err := batches(b)
	if err != nil {
		return nil, err
	}
	out := bytes.Clone(b[:headerSize])
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].gen == list[0].gen {
			n++
		}
		out = append(out, shuffle(b, list[:n], source(seed, b))...)
		list = list[n:]
	}
	return out, nil
}

// shuffle deals the batches of one generation out anew. Those that are not of
// events, and the last byte of the generation, keep their places.
func shuffle(b []byte, gen []span, r *rand.Rand) (out []byte) {
	queues := make(map[uint64][]span)
	var turns []uint64
	for _, x := range gen {
		if x.timed {
			queues[x.m] = append(queues[x.m], x)
			turns = append(turns, x.m)
		}
	}
	r.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	for _, x := range gen {
		if x.timed {
			m := turns[0]
			turns = turns[1:]
			x = queues[m][0]
			queues[m] = queues[m][1:]
		}
		out = append(out, b[x.from:x.to]...)
	}
	return out
}

// A span is a batch in a file, or the mark at the end of a generation.
type span struct {
	gen, m   uint64
	from, to int
	events   int  // where they begin, in a batch that holds some
	timed    bool // holds events
}

func batches(b []byte) (list []span, err error) {
	if len(b) < headerSize || !bytes.HasPrefix(b, []byte("go 1.")) {
		return nil, fmt.Errorf("corpus: not a trace")
	}
	for i := headerSize; i < len(b); {
		x := span{from: i}
		switch Type(b[i]) {
		case EndOfGen:
			if len(list) > 0 {
				x.gen = list[len(list)-1].gen
			}
			x.to = i + 1
		case EventBatch, Experimental:
			x, err = readBatch(b, i)
		default:
			err = fmt.Errorf("corpus: no batch at byte %d", i)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, x)
		i = x.to
	}
	return list, nil
}

func readBatch(b []byte, at int) (span, error) {
	i := at + 1
	if Type(b[at]) == Experimental {
		i++
	}
	var v [4]uint64 // generation, thread, time, size
	for k := range v {
		n := 0
		if i <= len(b) {
			v[k], n = binary.Uvarint(b[i:])
		}
		if n <= 0 {
			return span{}, fmt.Errorf("corpus: torn batch at byte %d", at)
		}
		i += n
	}
	if v[3] > uint64(len(b)-i) {
		return span{}, fmt.Errorf("corpus: torn batch at byte %d", at)
	}
	x := span{gen: v[0], m: v[1], from: at, to: i + int(v[3])}
	if Type(b[at]) == EventBatch && v[3] > 0 {
		switch Type(b[i]) {
		case Stacks, Strings, CPUSamples, Frequency, Sync:
		default:
			x.timed, x.events = true, i
		}
	}
	return x, nil
}

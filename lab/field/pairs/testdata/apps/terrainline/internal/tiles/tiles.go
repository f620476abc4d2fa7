// Package tiles opens elevation tiles, files of Side x Side 16 bit heights.
package tiles

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"
)

const Side = 512

type Tile struct {
	data     []byte
	Low, Top int16
	used     int
}

func (t *Tile) At(x, y int) int16 {
	return int16(binary.LittleEndian.Uint16(t.data[(y*Side+x)*2:]))
}

// Set is the tiles a worker has at hand, the least used go first.
type Set struct {
	dir   string
	most  int
	v2    bool
	clock int
	open  map[[2]int]*Tile
	Loads int
}

func NewSet(dir string, most int, v2 bool) *Set {
	return &Set{dir: dir, most: most, v2: v2, open: make(map[[2]int]*Tile)}
}

func name(dir string, x, y int) string {
	return filepath.Join(dir, fmt.Sprintf("e%03dn%03d.hgt", x, y))
}

func (s *Set) Get(x, y int) (*Tile, error) {
	s.clock++
	k := [2]int{x, y}
	if t, ok := s.open[k]; ok {
		t.used = s.clock
		return t, nil
	}
	t, err := s.load(k)
	if err != nil {
		return nil, err
	}
	if len(s.open) >= s.most {
		s.evict()
	}
	t.used = s.clock
	s.open[k] = t
	return t, nil
}

func (s *Set) load(k [2]int) (*Tile, error) {
	f, err := os.Open(name(s.dir, k[0], k[1]))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := syscall.Mmap(int(f.Fd()), 0, Side*Side*2, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	s.Loads++
	t := &Tile{data: data, Low: math.MaxInt16, Top: math.MinInt16}
	for y := range Side {
		for x := range Side {
			h := t.At(x, y)
			t.Low, t.Top = min(t.Low, h), max(t.Top, h)
		}
	}
	return t, nil
}

func (s *Set) evict() {
	var old [2]int
	least := math.MaxInt
	for k, t := range s.open {
		if t.used < least {
			old, least = k, t.used
		}
	}
	t := s.open[old]
	delete(s.open, old)
	if s.v2 {
		syscall.Munmap(t.data)
		t.data = nil
	}
}

// Generate writes n x n tiles of hills.
func Generate(dir string, n int) error {
	buf := make([]byte, Side*Side*2)
	var east [Side]float64
	for ty := range n {
		for tx := range n {
			for x := range east {
				east[x] = 400 * tri(float64(tx*Side+x)*0.013)
			}
			for y := range Side {
				north := 300 * tri(float64(ty*Side+y)*0.011)
				for x := range Side {
					h := east[x] + north + float64((x*5+y*3)%97)
					binary.LittleEndian.PutUint16(buf[(y*Side+x)*2:], uint16(int16(h)))
				}
			}
			if err := os.WriteFile(name(dir, tx, ty), buf, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

func tri(v float64) float64 {
	f := v - math.Floor(v)
	return math.Abs(2*f - 1)
}

// Package replay packs the state of an arena for those who watch it.
package replay

import (
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"arenarooms/internal/room"
)

var packers = sync.Pool{New: func() any {
	zw, _ := flate.NewWriter(io.Discard, flate.BestSpeed)
	return zw
}}

// Frame writes one frame to w and returns its check sum.
func Frame(w io.Writer, r *room.Room) (uint32, error) {
	buf := make([]byte, 0, 32*len(r.Fighters))
	for i := range r.Fighters {
		f := &r.Fighters[i]
		buf = binary.LittleEndian.AppendUint32(buf, f.ID)
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(f.X)))
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(f.Y)))
		buf = binary.AppendVarint(buf, int64(f.Health))
		buf = binary.AppendVarint(buf, int64(f.Score))
	}
	zw := packers.Get().(*flate.Writer)
	defer packers.Put(zw)
	zw.Reset(w)
	if _, err := zw.Write(buf); err != nil {
		return 0, err
	}
	return crc32.ChecksumIEEE(buf), zw.Close()
}

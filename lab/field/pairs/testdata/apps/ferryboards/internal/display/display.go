// Package display draws boards as the text of the screens at the berths.
package display

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"strings"
	"sync/atomic"
	"time"

	"ferryboards/internal/boards"
)

// Fleet counts what all screens have drawn.
type Fleet struct {
	Drawn, Bytes atomic.Int64
}

// Poll keeps one screen of a berth current until ctx is over.
func (f *Fleet) Poll(ctx context.Context, store *boards.Store, berth string, width int) {
	var index uint64
	var buf bytes.Buffer
	for {
		board, err := store.Wait(ctx, berth, index)
		if err != nil {
			return
		}
		index = board.Index
		buf.Reset()
		draw(&buf, board, width)
		f.Drawn.Add(1)
		f.Bytes.Add(int64(buf.Len()))
	}
}

func draw(buf *bytes.Buffer, board *boards.Board, width int) {
	fmt.Fprintf(buf, "== %s ==\n", board.Berth)
	for i, s := range board.Sailings {
		if time.Until(s.Leaves) < 0 {
			continue
		}
		line := fmt.Sprintf("%2d %s %-10s %-8s %s", i+1, s.Leaves.Format("15:04"), strings.ToUpper(s.To), s.Vessel, s.Remark)
		if len(line) > width {
			line = line[:width]
		}
		buf.WriteString(line)
		buf.WriteByte('\n')
	}
	fmt.Fprintf(buf, "-- %08x\n", crc32.ChecksumIEEE(buf.Bytes()))
}

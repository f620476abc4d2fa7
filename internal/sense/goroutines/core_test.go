package goroutines

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/testing/corefile"
)

// What a signal's handler interrupted is found where the kernel put it, by architecture: on the
// stack that it lies on itself, and of another stack's nothing.
func TestInterrupted(t *testing.T) {
	const low, size, sp = 0x10000, 0x8000, 0x12000
	for machine, at := range map[uint16]struct{ pc, sp, bp int }{62: {168, 160, 120}, 183: {440, 432, 416}} {
		for _, c := range []struct {
			stack uint64
			want  []core.Registers
		}{{low, []core.Registers{{PC: 0x1010, SP: 0x777000, BP: 0x777100}}}, {0x18000, nil}} {
			stack := make([]byte, size)
			context := stack[sp-low+0x200:]
			binary.LittleEndian.PutUint64(context, 7)
			binary.LittleEndian.PutUint64(context[16:], c.stack)
			binary.LittleEndian.PutUint64(context[32:], size)
			binary.LittleEndian.PutUint64(context[at.pc:], 0x1010)
			binary.LittleEndian.PutUint64(context[at.sp:], 0x777000)
			binary.LittleEndian.PutUint64(context[at.bp:], 0x777100)
			b := (&corefile.Core{Machine: machine, Segments: []corefile.Segment{{Start: low, Size: size, Data: stack}}}).Bytes()
			f, err := core.New(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			r := &Reader{code: fake{}}
			if got := r.interrupted(&coreMemory{file: f}, core.Registers{SP: sp}); !reflect.DeepEqual(got, c.want) {
				t.Errorf("machine %d, stack at %#x: %+v, want %+v", machine, c.stack, got, c.want)
			}
		}
	}
}

package model

import (
	"strings"
	"testing"
)

func TestWorkOf(t *testing.T) {
	for stack, want := range map[string]struct {
		work Work
		line string
	}{
		"main.find main.main runtime.main": {Computing, "main.find"},
		"runtime.memmove runtime.growslice fmt.(*buffer).writeString fmt.Sprintf main.key main.main":         {Formatting, "main.key"},
		"strconv.formatBits strconv.Itoa main.key":                                                           {Numerals, "main.key"},
		"runtime.mallocgc reflect.New encoding/json.(*decodeState).object encoding/json.Unmarshal main.load": {Decoding, "main.load"},
		"reflect.Value.Field encoding/json.structEncoder.encode encoding/json.Marshal main.save":             {Encoding, "main.save"},
		"runtime.memequal runtime.mapaccess2_faststr main.look":                                              {MapAccess, "main.look"},
		"internal/runtime/maps.(*Iter).Next main.total":                                                      {MapWalking, "main.total"},
		"runtime.mapiternext main.total":                                                                     {MapWalking, "main.total"},
		"memeqbody main.find":                                                                                {Comparing, "main.find"},
		"main.less sort.insertionSort_func sort.Slice main.rank main.main":                                   {Sorting, "main.rank"},
		"fmt.Sprint main.less slices.pdqsortCmpFunc[go.shape.int] slices.SortFunc main.r":                    {Sorting, "main.r"},
		"main.handle net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve":                                  {Computing, "main.handle"},
		"strings.Index example.com/a/b.(*T).scan main.main":                                                  {SearchText, "example.com/a/b.(*T).scan"},
		"internal/runtime/syscall.Syscall6 syscall.write os.(*File).Write main.out":                          {InputOutput, "main.out"},
		"internal/runtime/syscall/linux.Syscall6 syscall.write net.(*conn).Write fmt.Fprintf main.line":      {InputOutput, "main.line"},
		"internal/runtime/syscall/linux.Syscall6 syscall.write os.(*File).Write log.(*Logger).output main.f": {Logging, "main.f"},
		"internal/runtime/syscall/linux.Syscall6 syscall.write os.(*File).Write main.out fmt.Fprintf main.g": {InputOutput, "main.out"},
		"crypto/sha256.block crypto/sha256.Sum256 main.id":                                                   {Hashing, "main.id"},
		"crypto/aes.encrypt main.seal":                                                                       {Cryptography, "main.seal"},
		"runtime.nanotime time.Now main.poll":                                                                {Clock, "main.poll"},
		"encoding/binary.bigEndian.Uint32 main.read":                                                         {Decoding, "main.read"},
		"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker":                                          {"", ""},
	} {
		var frames []Frame
		for _, f := range strings.Fields(stack) {
			frames = append(frames, Frame{Func: f, Line: 1})
		}
		if w, line, ok := WorkOf(frames); w != want.work || line.Func != want.line || ok != (want.line != "") {
			t.Errorf("WorkOf(%s) = %q for %q, %v; want %q for %q", stack, w, line.Func, ok, want.work, want.line)
		}
	}
}

// No beginning is of two kinds: the table would depend on the order of a map.
func TestWorksAreDistinct(t *testing.T) {
	seen := map[string]Work{}
	for w, text := range works {
		for _, p := range strings.Fields(text) {
			if other, ok := seen[p]; ok && other != w {
				t.Errorf("%q is %q and %q", p, w, other)
			}
			seen[p] = w
		}
	}
}

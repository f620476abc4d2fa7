//go:build cgo && unix

package main

// #include <stdlib.h>
// #include <string.h>
import "C"

import "unsafe"

var blocks []unsafe.Pointer

// takeFromC takes memory that the collector knows nothing of.
func takeFromC() error {
	for i := 0; i < held>>20; i++ {
		p := C.malloc(1 << 20)
		C.memset(p, 1, 1<<20)
		blocks = append(blocks, p)
	}
	return nil
}

// Lz4backups compresses blocks of a disk with lz4 and checks what comes back.
package main

import (
	"bytes"
	"errors"
	"flag"

	"github.com/pierrec/lz4/v4"
)

func main() {
	flag.Parse()
	block := bytes.Repeat([]byte("inode 4711 mode 0644 owner root size 8192 "), 400)
	packed := make([]byte, lz4.CompressBlockBound(len(block)))
	back := make([]byte, len(block))
	var c lz4.Compressor
	pace(func(n int) error {
		for i := 0; i < len(block); i += 64 {
			block[i] = byte(n * i)
		}
		size, err := c.CompressBlock(block, packed)
		if err != nil {
			return err
		}
		got, err := lz4.UncompressBlock(packed[:size], back)
		if err != nil {
			return err
		}
		if !bytes.Equal(back[:got], block) {
			return errors.New("a block came back different")
		}
		return nil
	})
}

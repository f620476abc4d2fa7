// Scanuploads looks how large the scans are that people upload, some of which are broken.
package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"image"
	"image/color"
	"log"

	"golang.org/x/image/tiff"
)

// broken is a scan of which the height was lost: a strip of tiles without any.
func broken(width uint32) []byte {
	le := binary.LittleEndian
	out := append([]byte("II"), 42, 0, 8, 0, 0, 0)
	entries := [][3]uint32{
		{256, 4, width}, {257, 4, 0}, {258, 3, 8}, {259, 3, 1}, {262, 3, 1}, {277, 3, 1},
		{322, 3, 8}, {323, 3, 8}, {324, 4, 8}, {325, 4, 64},
	}
	out = le.AppendUint16(out, uint16(len(entries)))
	for _, e := range entries {
		out = le.AppendUint16(out, uint16(e[0]))
		out = le.AppendUint16(out, uint16(e[1]))
		out = le.AppendUint32(out, 1)
		out = le.AppendUint32(out, e[2])
	}
	return append(out, make([]byte, 64)...)
}

// scan is a page of text as a scanner makes it.
func scan(n int) ([]byte, error) {
	m := image.NewGray(image.Rect(0, 0, 300, 400))
	for i := 0; i < len(m.Pix); i += 3 {
		m.Pix[i] = color.Gray{Y: uint8(i * n)}.Y
	}
	var b bytes.Buffer
	err := tiff.Encode(&b, m, nil)
	return b.Bytes(), err
}

// size is that of a scan, nothing of a broken one.
func size(upload []byte) image.Point {
	m, err := tiff.Decode(bytes.NewReader(upload))
	if err != nil {
		return image.Point{}
	}
	return m.Bounds().Size()
}

func main() {
	uploads := flag.Int("uploads", 400, "scans that are uploaded")
	flag.Parse()
	pixels := 0
	for i := range *uploads {
		upload, err := scan(i)
		if err != nil {
			log.Fatal(err)
		}
		if i%40 == 3 {
			upload = broken(3_000_000_000)
		}
		s := size(upload)
		pixels += s.X * s.Y
	}
	fmt.Println("pixels:", pixels)
	fmt.Printf("operations: %d\n", *uploads)
}

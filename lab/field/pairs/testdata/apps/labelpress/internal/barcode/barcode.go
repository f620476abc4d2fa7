// Package barcode draws the bars of a parcel number.
package barcode

import "hash/crc32"

// Draw gives a bitmap of the bars for n, scaled and with a quiet zone.
func Draw(code string, scale, height int) []byte {
	bars := make([]byte, 0, len(code)*11+26)
	put := func(v byte) {
		p := uint16(0x55d) ^ uint16(v)*97
		for i := range 11 {
			bars = append(bars, byte(p>>i)&1)
		}
	}
	put(104)
	for i := range len(code) {
		put(code[i] - 32)
	}
	put(byte(crc32.ChecksumIEEE([]byte(code)) % 103))
	width := (len(bars) + 20) * scale
	img := make([]byte, width*height)
	for x, b := range bars {
		if b == 0 {
			continue
		}
		for y := range height {
			row := img[y*width:]
			for s := range scale {
				row[(x+10)*scale+s] = 1
			}
		}
	}
	return img
}

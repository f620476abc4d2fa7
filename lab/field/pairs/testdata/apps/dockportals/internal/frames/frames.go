// Package frames has the reports that the portals' readers send.
package frames

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/rand/v2"
)

// Size is the length of one read in a frame.
const Size = 20

// Read is one sight of a tag.
type Read struct {
	EPC     [12]byte
	Antenna uint16
	RSSI    int16
	Ms      uint32
}

var errFrame = errors.New("frames: broken frame")

// Decode calls f for each read of a frame.
func Decode(p []byte, f func(*Read) error) error {
	if len(p) < 8 || (len(p)-8)%Size != 0 || crc32.ChecksumIEEE(p[4:]) != binary.BigEndian.Uint32(p) {
		return errFrame
	}
	for p = p[8:]; len(p) > 0; p = p[Size:] {
		r := Read{
			Antenna: binary.BigEndian.Uint16(p[12:]),
			RSSI:    int16(binary.BigEndian.Uint16(p[14:])),
			Ms:      binary.BigEndian.Uint32(p[16:]),
		}
		copy(r.EPC[:], p)
		if err := f(&r); err != nil {
			return err
		}
	}
	return nil
}

// Sample makes a frame of n reads of pallets that pass the portal.
func Sample(portal uint32, n int, ms uint32, rnd *rand.Rand) []byte {
	p := binary.BigEndian.AppendUint32(make([]byte, 4, 8+n*Size), portal)
	first := rnd.Uint64N(1 << 20)
	for range n {
		// SSCC-96, partition 5: 24 bits of company, 34 bits of serial number.
		company, serial := 5000000+rnd.Uint64N(40), first+rnd.Uint64N(24)
		hi := uint64(0x31)<<56 | 2<<53 | 5<<50 | company<<26 | serial>>8
		p = binary.BigEndian.AppendUint64(p, hi)
		p = binary.BigEndian.AppendUint32(p, uint32(serial&0xff)<<24)
		p = binary.BigEndian.AppendUint16(p, uint16(portal)<<2|uint16(rnd.IntN(4)))
		p = binary.BigEndian.AppendUint16(p, uint16(-30-rnd.IntN(45)))
		p = binary.BigEndian.AppendUint32(p, ms+uint32(rnd.IntN(900)))
	}
	binary.BigEndian.PutUint32(p, crc32.ChecksumIEEE(p[4:]))
	return p
}

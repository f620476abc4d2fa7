// Package telemetry reads what the drums' sensors report.
package telemetry

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
)

// Samples per report.
const Samples = 512

// ErrReport is returned for a damaged report.
var ErrReport = errors.New("telemetry: damaged report")

// Report packs samples with a checksum.
func Report(samples []float64) []byte {
	b := make([]byte, 0, 2*len(samples)+4)
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(v*1000)))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Shake finds the strongest of the drum's low frequencies in a report.
func Shake(rep []byte) (freq int, power float64, err error) {
	n := (len(rep) - 4) / 2
	if n <= 0 || crc32.ChecksumIEEE(rep[:2*n]) != binary.LittleEndian.Uint32(rep[2*n:]) {
		return 0, 0, ErrReport
	}
	for k := 1; k <= 96; k++ {
		c := 2 * math.Cos(2*math.Pi*float64(k)/float64(n))
		var s1, s2 float64
		for i := range n {
			v := float64(int16(binary.LittleEndian.Uint16(rep[2*i:]))) / 1000
			s1, s2 = v+c*s1-s2, s1
		}
		if p := s1*s1 + s2*s2 - c*s1*s2; p > power {
			freq, power = k, p
		}
	}
	return freq, math.Sqrt(power) / float64(n), nil
}

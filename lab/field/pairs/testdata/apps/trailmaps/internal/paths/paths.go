// Package paths computes the height profiles of trail sections.
package paths

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"strconv"
)

// Key names the profile of a section.
func Key(section int, season string) string {
	return "section/" + strconv.Itoa(section) + "/" + season
}

func height(x, y float64) float64 {
	return 900 + 400*math.Sin(x/7)*math.Cos(y/5)
}

// Profile returns the encoded profile of a section: steps of height along the way.
func Profile(section int, season string) []byte {
	h := fnv.New32a()
	h.Write([]byte(season))
	n := 50 + section%30
	out := make([]byte, 0, 4*n)
	x, y := float64(section%1000), float64(section/1000)
	last := 0.0
	for i := range n {
		z := height(x+float64(i)/20, y+float64(h.Sum32()%7)/10)
		out = binary.LittleEndian.AppendUint16(out, uint16(z))
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(z-last)))
		last = z
	}
	return out
}

// Climb sums the metres upwards of a profile.
func Climb(p []byte) int {
	up := 0
	for i := 6; i < len(p); i += 4 {
		if d := int(int16(binary.LittleEndian.Uint16(p[i:]))); d > 0 {
			up += d
		}
	}
	return up
}

// Package relief draws shaded reliefs.
package relief

import (
	"image"
	"image/png"
	"io"
	"math"

	"terrainshade/internal/dem"
)

// Light is the direction of the sun.
type Light struct{ X, Y, Z float32 }

func Sun(azimuth, altitude float64) Light {
	a, h := azimuth*math.Pi/180, altitude*math.Pi/180
	return Light{float32(math.Sin(a) * math.Cos(h)), float32(math.Cos(a) * math.Cos(h)), float32(math.Sin(h))}
}

// Shade lights the grid.
func Shade(img *image.Gray, g *dem.Grid, l Light, metres float32) {
	for y := 1; y < g.H-1; y++ {
		up, mid, down := g.Row(y-1), g.Row(y), g.Row(y+1)
		pix := img.Pix[y*img.Stride:]
		for x := 1; x < g.W-1; x++ {
			dx := (mid[x+1] - mid[x-1]) / (2 * metres)
			dy := (down[x] - up[x]) / (2 * metres)
			n := float32(math.Sqrt(float64(1 + dx*dx + dy*dy)))
			v := (l.Z - dx*l.X - dy*l.Y) / n
			pix[x] = uint8(255 * max(0, min(1, v)))
		}
	}
}

// Encode writes the relief, and its overview of a quarter of the size.
func Encode(w io.Writer, img *image.Gray) error {
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	b := img.Bounds()
	small := image.NewGray(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
	for y := range b.Dy() / 2 {
		p, q := img.Pix[2*y*img.Stride:], img.Pix[(2*y+1)*img.Stride:]
		for x := range b.Dx() / 2 {
			small.Pix[y*small.Stride+x] = uint8((int(p[2*x]) + int(p[2*x+1]) + int(q[2*x]) + int(q[2*x+1])) / 4)
		}
	}
	if err := enc.Encode(w, small); err != nil {
		return err
	}
	return enc.Encode(w, img)
}

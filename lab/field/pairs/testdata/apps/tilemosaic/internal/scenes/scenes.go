// Package scenes has the pictures that satellites took.
package scenes

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// Scene is a picture with its place on the grid of the map.
type Scene struct {
	ID      int
	Picture image.Image
	Origin  image.Point
	Cloud   uint8
}

// Make makes n scenes of the given size in a row, each three quarters over the one before.
func Make(n, size int) []Scene {
	rng := rand.New(rand.NewPCG(5, 55))
	out := make([]Scene, n)
	for i := range out {
		img := image.NewRGBA(image.Rect(0, 0, size, size))
		fx, fy := 0.01+0.02*rng.Float64(), 0.01+0.02*rng.Float64()
		for y := range size {
			for x := range size {
				h := math.Sin(float64(x)*fx) + math.Cos(float64(y)*fy)
				g := uint8(110 + 40*h)
				img.SetRGBA(x, y, color.RGBA{g / 2, g, uint8(60 + 20*h), 255})
			}
		}
		out[i] = Scene{ID: i, Picture: img, Origin: image.Pt(i*size/4, 0), Cloud: uint8(rng.IntN(100))}
	}
	return out
}

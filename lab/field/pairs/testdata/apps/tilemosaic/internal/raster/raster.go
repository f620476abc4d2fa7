// Package raster cuts pictures.
package raster

import "image"

// Cut gives the part r of a picture.
type Cut func(m image.Image, r image.Rectangle) image.Image

type window struct {
	image.Image
	r image.Rectangle
}

func (w window) Bounds() image.Rectangle { return w.r }

// Window shows a part of any picture.
func Window(m image.Image, r image.Rectangle) image.Image {
	return window{m, r.Intersect(m.Bounds())}
}

// Part asks the picture for a part of it.
func Part(m image.Image, r image.Rectangle) image.Image {
	if s, ok := m.(interface {
		SubImage(image.Rectangle) image.Image
	}); ok {
		return s.SubImage(r)
	}
	return Window(m, r)
}

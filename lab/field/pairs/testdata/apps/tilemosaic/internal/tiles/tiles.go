// Package tiles makes the tiles of a map of scenes.
package tiles

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"

	"tilemosaic/internal/raster"
	"tilemosaic/internal/scenes"
)

// Size is the length of the side of a tile.
const Size = 256

// Composer makes tiles.
type Composer struct {
	scenes []scenes.Scene
	cut    raster.Cut
	canvas *image.RGBA
	enc    png.Encoder
	buf    bytes.Buffer
}

type buffers struct{ b *png.EncoderBuffer }

func (p *buffers) Get() *png.EncoderBuffer  { return p.b }
func (p *buffers) Put(b *png.EncoderBuffer) { p.b = b }

// New returns a composer.
func New(list []scenes.Scene, cut raster.Cut) *Composer {
	return &Composer{
		scenes: list, cut: cut, canvas: image.NewRGBA(image.Rect(0, 0, Size, Size)),
		enc: png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &buffers{}},
	}
}

// Tile makes the tile at column x and row y. What it returns is good until the next call.
func (c *Composer) Tile(x, y int) ([]byte, error) {
	area := image.Rect(x*Size, y*Size, (x+1)*Size, (y+1)*Size)
	draw.Draw(c.canvas, c.canvas.Bounds(), image.NewUniform(color.RGBA{20, 40, 90, 255}), image.Point{}, draw.Src)
	for _, s := range c.scenes {
		seen := s.Picture.Bounds().Add(s.Origin).Intersect(area)
		if seen.Empty() {
			continue
		}
		part := c.cut(s.Picture, seen.Sub(s.Origin))
		draw.Draw(c.canvas, seen.Sub(area.Min), part, part.Bounds().Min, draw.Over)
	}
	c.grid()
	c.buf.Reset()
	if err := c.enc.Encode(&c.buf, c.canvas); err != nil {
		return nil, err
	}
	return c.buf.Bytes(), nil
}

func (c *Composer) grid() {
	for i := 0; i < Size; i += 64 {
		line := image.NewUniform(color.RGBA{255, 255, 255, 255})
		draw.Draw(c.canvas, image.Rect(i, 0, i+1, Size), line, image.Point{}, draw.Src)
		draw.Draw(c.canvas, image.Rect(0, i, Size, i+1), line, image.Point{}, draw.Src)
	}
}

// Blurphotos blurs the photos of a gallery's background, three boxes for each, and tells how
// bright they are. Each worker has its own pictures to work in.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
)

const radius = 6

// A blurrer works on photos of one size.
type blurrer struct {
	photo, scratch *image.RGBA
	sums           []uint32 // of the columns of a window, four for each pixel
}

func newBlurrer(size image.Rectangle) *blurrer {
	return &blurrer{image.NewRGBA(size), image.NewRGBA(size), make([]uint32, 4*size.Dx())}
}

// clamp is i, or the place at the edge that is nearest to it.
func clamp(i, n int) int { return min(max(i, 0), n-1) }

// rows blurs along rows: a window slides over each.
func (b *blurrer) rows(dst, src *image.RGBA) {
	width, height := src.Rect.Dx(), src.Rect.Dy()
	for y := range height {
		in, out := src.Pix[y*src.Stride:][:4*width], dst.Pix[y*dst.Stride:][:4*width]
		var sum [4]uint32
		for x := -radius; x <= radius; x++ {
			p := in[4*clamp(x, width):][:4]
			for c := range sum {
				sum[c] += uint32(p[c])
			}
		}
		for x := range width {
			to := out[4*x:][:4]
			enter, leave := in[4*clamp(x+radius+1, width):][:4], in[4*clamp(x-radius, width):][:4]
			for c := range sum {
				to[c] = uint8(sum[c] / (2*radius + 1))
				sum[c] += uint32(enter[c]) - uint32(leave[c])
			}
		}
	}
}

// columns blurs along columns, all of them at once, so that memory is read in its order.
func (b *blurrer) columns(dst, src *image.RGBA) {
	width, height := src.Rect.Dx(), src.Rect.Dy()
	row := func(y int) []uint8 { return src.Pix[clamp(y, height)*src.Stride:][:4*width] }
	sums := b.sums[:4*width]
	clear(sums)
	for y := -radius; y <= radius; y++ {
		for i, v := range row(y) {
			sums[i] += uint32(v)
		}
	}
	for y := range height {
		out := dst.Pix[y*dst.Stride:][:len(sums)]
		enter, leave := row(y + radius + 1)[:len(sums)], row(y - radius)[:len(sums)]
		for i := range sums {
			out[i] = uint8(sums[i] / (2*radius + 1))
			sums[i] += uint32(enter[i]) - uint32(leave[i])
		}
	}
}

// blur blurs a photo and returns how bright it is.
func (b *blurrer) blur(photo *image.RGBA) int {
	src := photo
	for range 3 {
		b.rows(b.scratch, src)
		b.columns(b.photo, b.scratch)
		src = b.photo
	}
	sum := 0
	for i := 0; i < len(src.Pix); i += 4 {
		p := src.Pix[i:][:3]
		sum += 299*int(p[0]) + 587*int(p[1]) + 114*int(p[2])
	}
	return sum / (len(src.Pix) / 4) / 1000
}

func main() {
	flag.Parse()
	size, rnd := image.Rect(0, 0, 480, 320), rand.NewChaCha8([32]byte{8})
	photos := make([]*image.RGBA, 12)
	for i := range photos {
		photos[i] = image.NewRGBA(size)
		_, _ = rnd.Read(photos[i].Pix)
	}
	blurrers := make([]*blurrer, runtime.GOMAXPROCS(0))
	for i := range blurrers {
		blurrers[i] = newBlurrer(size)
	}
	pace(len(blurrers), func(_ context.Context, w, n int) error {
		if bright := blurrers[w].blur(photos[n%len(photos)]); bright < 100 || bright > 150 {
			return fmt.Errorf("photo %d: %d", n, bright)
		}
		return nil
	})
}

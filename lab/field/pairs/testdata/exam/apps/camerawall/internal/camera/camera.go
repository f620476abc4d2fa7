// Package camera takes pictures: a yard, through which somebody walks now and then.
package camera

import "camerawall/internal/frame"

// A Mode is how cameras take pictures.
type Mode int

// By night cameras join pixels, and pictures are smaller.
const (
	Day Mode = iota
	Night
)

// Size is that of pictures.
func (m Mode) Size() frame.Size {
	if m == Night {
		return frame.Size{W: 192, H: 144}
	}
	return frame.Size{W: 256, H: 192}
}

// A Site has some cameras.
type Site struct {
	mode Mode
	seq  []int
}

// NewSite makes a site.
func NewSite(cameras int, mode Mode) *Site { return &Site{mode: mode, seq: make([]int, cameras)} }

// Mode is that of all cameras.
func (s *Site) Mode() Mode { return s.mode }

// Switch changes it.
func (s *Site) Switch(m Mode) { s.mode = m }

// Take takes a picture with one of the cameras.
func (s *Site) Take(camera int, store *frame.Store) *frame.Frame {
	f := store.New(s.mode.Size())
	f.Camera, f.Seq = camera, s.seq[camera]
	s.seq[camera]++
	light := 60
	if s.mode == Night {
		light = 24
	}
	noise := uint32(camera*2654435761) + uint32(f.Seq)*40503
	for y := range f.Size.H {
		row := f.Pix[y*f.Size.W : (y+1)*f.Size.W]
		for x := range row {
			noise = noise*1664525 + 1013904223
			row[x] = byte(light + (x*7+y*3)%48 + int(noise>>30))
		}
	}
	if (f.Seq/40+camera)%5 == 0 {
		s.walker(f)
	}
	return f
}

func (s *Site) walker(f *frame.Frame) {
	left := f.Seq * 3 % (f.Size.W - 16)
	for y := f.Size.H / 3; y < f.Size.H/3+40; y++ {
		for x := left; x < left+16; x++ {
			f.Pix[y*f.Size.W+x] = 220
		}
	}
}

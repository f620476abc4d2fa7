// Package motion compares pictures of a camera.
package motion

import "camerawall/internal/frame"

// A Detector remembers the picture before.
type Detector struct {
	Threshold int
	before    *frame.Frame
}

// Moved returns the share of pixels, in thousandths, that changed since the picture before.
func (d *Detector) Moved(f *frame.Frame) int {
	b := d.before
	d.before = f
	if b == nil || b.Size != f.Size {
		return 0
	}
	n := 0
	for i, p := range f.Pix {
		diff := int(p) - int(b.Pix[i])
		if diff > d.Threshold || diff < -d.Threshold {
			n++
		}
	}
	return n * 1000 / len(f.Pix)
}

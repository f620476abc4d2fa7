// Package wall is what guards look at: the last picture of each camera, made small.
package wall

import (
	"camerawall/internal/frame"
	"camerawall/internal/motion"
)

const (
	tileW  = 64
	tileH  = 48
	across = 6
)

// A Wall shows cameras.
type Wall struct {
	store     *frame.Store
	detectors []motion.Detector
	recent    []*frame.Frame // of each camera
	picture   *frame.Frame
	shown     int
	alarms    int
}

// New makes a wall.
func New(store *frame.Store, cameras int) *Wall {
	w := &Wall{store: store, detectors: make([]motion.Detector, cameras), recent: make([]*frame.Frame, cameras)}
	for i := range w.detectors {
		w.detectors[i].Threshold = 20
	}
	return w
}

// Show takes a picture.
func (w *Wall) Show(f *frame.Frame) {
	if w.detectors[f.Camera].Moved(f) >= 8 {
		w.alarms++
	}
	w.recent[f.Camera] = f
	w.shown++
}

// Compose puts the picture of the wall together.
func (w *Wall) Compose() *frame.Frame {
	rows := (len(w.recent) + across - 1) / across
	out := w.store.New(frame.Size{W: across * tileW, H: rows * tileH})
	for i, f := range w.recent {
		if f != nil {
			place(out, f, i%across*tileW, i/across*tileH)
		}
	}
	w.picture = out
	return out
}

func place(out, f *frame.Frame, left, top int) {
	for y := range tileH {
		for x := range tileW {
			out.Pix[(top+y)*out.Size.W+left+x] = f.At(x*f.Size.W/tileW, y*f.Size.H/tileH)
		}
	}
}

// Shown is how many pictures there were.
func (w *Wall) Shown() int { return w.shown }

// Alarms is in how many of them something moved.
func (w *Wall) Alarms() int { return w.alarms }

// Package studio plots drawings.
package studio

import (
	"plottershop/internal/artwork"
	"plottershop/internal/flatten"
	"plottershop/internal/plotter"
)

// Studio has one plotter.
type Studio struct {
	Plotter *plotter.Plotter
	Sheets  bool
}

// Plot draws one drawing and returns the number of its curves.
func (s *Studio) Plot(text string) (int, error) {
	paths, err := artwork.Parse(text)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, p := range paths {
		n += len(p.Curves)
	}
	if s.Sheets {
		s.sheet(paths)
		return n, nil
	}
	for _, p := range paths {
		s.path(p)
	}
	return n, nil
}

func (s *Studio) path(p artwork.Path) {
	s.Plotter.Do(func() { s.Plotter.Pen(p.Pen, p.Curves[0][0]) })
	var pts []artwork.Point
	for _, c := range p.Curves {
		pts = flatten.Curve(pts[:0], c, 0.2)
		s.Plotter.Do(func() { s.Plotter.Line(pts) })
	}
}

func (s *Studio) sheet(paths []artwork.Path) {
	lines := make([][]artwork.Point, len(paths))
	for i, p := range paths {
		for _, c := range p.Curves {
			lines[i] = flatten.Curve(lines[i], c, 0.2)
		}
	}
	s.Plotter.Do(func() {
		for i, p := range paths {
			s.Plotter.Pen(p.Pen, p.Curves[0][0])
			s.Plotter.Line(lines[i])
		}
	})
}

package system

import (
	"math"

	"arenaserver/internal/world"
)

const (
	speed  = 0.08 // metres a frame
	reach  = 3.0
	sight  = 40.0
	pause  = 20
	strike = 7
)

// Movement walks fighters towards their targets, or along the walls.
func Movement(w *world.World) Step {
	return func(i int) bool {
		f := &w.Fighters[i]
		if f.Health <= 0 {
			return false
		}
		if f.Target >= 0 {
			t := w.Fighters[f.Target].At
			if d := f.At.Distance(t); d > reach/2 {
				f.Heading = world.Vec{X: (t.X - f.At.X) / d, Y: (t.Y - f.At.Y) / d}
			}
		}
		f.At = f.At.Add(f.Heading, speed)
		if f.At.X < 0 || f.At.X > world.Size {
			f.Heading.X = -f.Heading.X
		}
		if f.At.Y < 0 || f.At.Y > world.Size {
			f.Heading.Y = -f.Heading.Y
		}
		return true
	}
}

// Sight finds the nearest fighter that another one can see.
func Sight(w *world.World) Step {
	return func(i int) bool {
		f := &w.Fighters[i]
		best, at := -1, sight
		for k := range w.Fighters {
			o := &w.Fighters[k]
			if k == i || o.Health <= 0 {
				continue
			}
			if math.Abs(o.At.X-f.At.X) > at {
				continue
			}
			if d := f.At.Distance(o.At); d < at {
				best, at = k, d
			}
		}
		changed := best != f.Target
		f.Target = best
		return changed
	}
}

// Combat strikes targets within reach.
func Combat(w *world.World) Step {
	return func(i int) bool {
		f := &w.Fighters[i]
		if f.Cooldown > 0 {
			f.Cooldown--
			return false
		}
		if f.Target < 0 || f.Health <= 0 {
			return false
		}
		t := &w.Fighters[f.Target]
		if f.At.Distance(t.At) > reach {
			return false
		}
		f.Cooldown = pause
		if t.Health -= strike; t.Health <= 0 {
			*t = world.Fighter{At: world.Vec{X: world.Size / 2, Y: float64(i)}, Heading: world.Vec{X: 1}, Health: 100, Target: -1}
		}
		return true
	}
}

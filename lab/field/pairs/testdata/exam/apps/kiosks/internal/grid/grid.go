// Package grid divides the world into cells: at each level a cell has a quarter of the one
// above it.
package grid

import "math"

// A Point is a place on earth, in degrees.
type Point struct{ Lat, Lon float64 }

// A Cell is a level and where in it a cell lies.
type Cell uint64

// MaxLevel is the finest level, whose cells are some forty metres wide at the equator.
const MaxLevel = 20

const (
	around = 40_075.0 // kilometres
	radius = around / 2 / math.Pi
)

// At returns the cell of a level that a point lies in.
func At(p Point, level int) Cell {
	x, y := project(p, level)
	return cell(level, int(x), int(y))
}

func cell(level, x, y int) Cell { return Cell(uint64(level)<<56 | uint64(x)<<28 | uint64(y)) }

// project is the projection of Mercator, onto the cells of a level.
func project(p Point, level int) (x, y float64) {
	n := float64(uint64(1) << level)
	s := math.Sin(p.Lat * math.Pi / 180)
	x = (p.Lon + 180) / 360 * n
	y = (0.5 - math.Log((1+s)/(1-s))/(4*math.Pi)) * n
	return x, y
}

// Width returns how many kilometres a cell of a level measures at a latitude.
func Width(lat float64, level int) float64 {
	return around * math.Cos(lat*math.Pi/180) / float64(uint64(1)<<level)
}

// Cover returns the cells of a level that a circle may touch.
func Cover(p Point, km float64, level int) []Cell {
	x, y := project(p, level)
	r := km/Width(p.Lat, level) + 0.01
	out := make([]Cell, 0, int(2*r+2)*int(2*r+2))
	for i := int(x - r); i <= int(x+r); i++ {
		for j := int(y - r); j <= int(y+r); j++ {
			dx := max(float64(i)-x, 0, x-float64(i+1))
			dy := max(float64(j)-y, 0, y-float64(j+1))
			if dx*dx+dy*dy <= r*r {
				out = append(out, cell(level, i, j))
			}
		}
	}
	return out
}

// Distance returns the kilometres between two points.
func Distance(a, b Point) float64 {
	rad := math.Pi / 180
	sLat, sLon := math.Sin((b.Lat-a.Lat)*rad/2), math.Sin((b.Lon-a.Lon)*rad/2)
	h := sLat*sLat + math.Cos(a.Lat*rad)*math.Cos(b.Lat*rad)*sLon*sLon
	return 2 * radius * math.Asin(math.Sqrt(h))
}

// Package plot judges the risks of plots.
package plot

import (
	"math"

	"vineyardplots/internal/settings"
	"vineyardplots/internal/weather"
)

// Plot is a piece of an estate.
type Plot struct {
	ID     int
	Estate string
	Slope  float64
	Height float64
}

// Risk is what a day means for a plot.
type Risk struct {
	Plot                      int
	Frost, Heat, Mildew, Wind float64
}

// Judge goes through the hours of a day.
func Judge(p Plot, day []weather.Hour, reg *settings.Registry) Risk {
	r := Risk{Plot: p.ID}
	for _, h := range day {
		est := reg.Get(p.Estate)
		temp := h.Temp - p.Height/150
		r.Frost += over(est, "frost", 10-temp)
		r.Heat += over(est, "heat", temp*(1+h.Sun*0.2))
		r.Mildew += over(est, "mildew", wetness(h, temp))
		r.Wind += over(est, "wind", h.Wind*(1+p.Slope))
	}
	return r
}

func over(est *settings.Estate, kind string, v float64) float64 {
	return max(0, v-est.Thresholds[kind])
}

func wetness(h weather.Hour, temp float64) float64 {
	sum := 0.0
	for layer := range 50 {
		t := temp + float64(layer)*0.08*(1-h.Sun)
		sum += h.Humidity * math.Exp(-math.Abs(t-22)/9) * math.Exp(-float64(layer)/30)
	}
	return sum / 100 * (1 + h.Rain/10)
}

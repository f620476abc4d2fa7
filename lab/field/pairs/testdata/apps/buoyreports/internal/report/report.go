// Package report reads the lines that buoys send.
package report

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Report is one observation.
type Report struct {
	Buoy     int
	At       time.Time
	Lat, Lon float64
	Wind     float64
	Gust     float64
	Wave     float64
	Period   float64
	Pressure float64
	Water    float64
}

// ErrLine is returned for a line that is not a report.
var ErrLine = errors.New("not a report")

// Reader reads lines.
type Reader struct {
	V2 bool
}

// Line reads "BUOY 46042 1767225600 36.785 -122.398 WIND 12.4/15.1 WAVE 3.2/9.1 PRES 1012.4 WTMP 11.8".
func (r *Reader) Line(line string) (Report, error) {
	if r.V2 {
		return fields(line)
	}
	var o Report
	var secs int64
	_, err := fmt.Sscanf(line, "BUOY %d %d %f %f WIND %f/%f WAVE %f/%f PRES %f WTMP %f",
		&o.Buoy, &secs, &o.Lat, &o.Lon, &o.Wind, &o.Gust, &o.Wave, &o.Period, &o.Pressure, &o.Water)
	if err != nil {
		return o, fmt.Errorf("%w: %v", ErrLine, err)
	}
	o.At = time.Unix(secs, 0).UTC()
	return o, nil
}

func fields(line string) (Report, error) {
	var o Report
	var f [13]string
	n := 0
	for part := range strings.FieldsSeq(line) {
		if n == len(f) {
			return o, ErrLine
		}
		f[n] = part
		n++
	}
	if n != len(f) || f[0] != "BUOY" || f[5] != "WIND" || f[7] != "WAVE" || f[9] != "PRES" || f[11] != "WTMP" {
		return o, ErrLine
	}
	var err error
	if o.Buoy, err = strconv.Atoi(f[1]); err != nil {
		return o, err
	}
	secs, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return o, err
	}
	wind, gust, _ := strings.Cut(f[6], "/")
	wave, period, _ := strings.Cut(f[8], "/")
	for _, v := range [...]struct {
		text string
		to   *float64
	}{
		{f[3], &o.Lat}, {f[4], &o.Lon}, {wind, &o.Wind}, {gust, &o.Gust},
		{wave, &o.Wave}, {period, &o.Period}, {f[10], &o.Pressure}, {f[12], &o.Water},
	} {
		if *v.to, err = strconv.ParseFloat(v.text, 64); err != nil {
			return o, err
		}
	}
	o.At = time.Unix(secs, 0).UTC()
	return o, nil
}

// Package parcel reads the scans of the belts.
package parcel

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// Scan is one reading of a label.
type Scan struct {
	ID, From, To string
	Service      string
	Grams        int
}

// ErrLabel is returned for labels that cannot be read.
var ErrLabel = errors.New("parcel: damaged label")

// Parse reads a label: id;from;to;service;grams;check.
func Parse(label string) (Scan, error) {
	i := strings.LastIndexByte(label, ';')
	if i < 0 || fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(label[:i]))) != label[i+1:] {
		return Scan{}, ErrLabel
	}
	f := strings.Split(label[:i], ";")
	if len(f) != 5 {
		return Scan{}, ErrLabel
	}
	g, err := strconv.Atoi(f[4])
	if err != nil {
		return Scan{}, fmt.Errorf("%w: %v", ErrLabel, err)
	}
	return Scan{ID: f[0], From: f[1], To: f[2], Service: f[3], Grams: g}, nil
}

// Day makes n labels.
func Day(n int) []string {
	svc := [...]string{"letter", "parcel", "express"}
	labels := make([]string, n)
	for i := range labels {
		body := fmt.Sprintf("RR%09dCH;%05d;%05d;%s;%d", i*37, 5000+i*31%95000, 5000+i*17%95000, svc[i%3], 20+i%9000)
		labels[i] = fmt.Sprintf("%s;%08x", body, crc32.ChecksumIEEE([]byte(body)))
	}
	return labels
}

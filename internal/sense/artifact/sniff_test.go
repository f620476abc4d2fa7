package artifact

import (
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	for _, tt := range []struct {
		head string
		want Kind
	}{
		{"", Empty},
		{"go 1.26 trace\x00\x00\x00", Trace},
		{"go 1.9 trace\x00\x00\x00\x00 more", Trace},
		{"go 1.11 trace\x00\x00\x00", Trace},
		{"go 1.x trace\x00\x00\x00", Binary},
		{"go 1.26 mod file", Text},
		{"go1.7 heap dump\n\x06", HeapDump},
		{"go1.7 heap dum", Text},
		{"\x1f\x8b\x08", Gzip},
		{"\x28\xb5\x2f\xfd\x04", Zstd},
		{"BZh91AY&SY\x00", Bzip2},
		{"BZh9 is how bzip2 begins", Text},
		{"PK\x03\x04", Zip},
		{"\x0a\x04\x08\x01\x10\x02", Binary},
		{"  \n<html>", HTML},
		{"<?xml version", HTML},
		{"goroutine profile: total 7", Text},
		{"grüße", Text},
		{"gr\xfc\xdfe, latin-1", Binary},
		{"\x1b[32mINFO\x1b[0m started", Text},
		{"the colour is cut off\x1b", Text},
		{"\x1b]0;a title\x07", Binary},
		{"\x1bc", Binary},
		{strings.Repeat("x", 511) + "\xe2", Text}, // a rune cut by the buffer's end
	} {
		if got := Sniff([]byte(tt.head)); got != tt.want {
			t.Errorf("%q is %d, want %d", tt.head, got, tt.want)
		}
	}
}

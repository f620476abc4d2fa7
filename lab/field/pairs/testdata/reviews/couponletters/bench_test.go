package coupon

import (
	"flag"
	"testing"
)

var each = flag.Bool("letters", false, "draw letter by letter")

func BenchmarkDraw(b *testing.B) {
	draw := NewPress().Draw
	if *each {
		draw = Draw
	}
	coupons := map[string]int{}
	for b.Loop() {
		code, err := draw()
		if err != nil {
			b.Fatal(err)
		}
		if len(coupons) < 10000 {
			coupons[code]++
		}
	}
}

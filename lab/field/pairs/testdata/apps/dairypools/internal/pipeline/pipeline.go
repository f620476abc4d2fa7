// Package pipeline joins the stages of the settlement.
package pipeline

import (
	"bytes"

	"dairypools/internal/intake"
	"dairypools/internal/lab"
)

// Stage starts f for everything that comes in.
func Stage[A, B any](in <-chan A, depth int, f func(A) B) <-chan B {
	out := make(chan B, depth)
	go func() {
		defer close(out)
		for v := range in {
			out <- f(v)
		}
	}()
	return out
}

// Lines cuts a file into lines.
func Lines(file []byte) <-chan []byte {
	out := make(chan []byte, 16)
	go func() {
		defer close(out)
		for line := range bytes.Lines(file) {
			out <- bytes.TrimSuffix(line, []byte{'\n'})
		}
	}()
	return out
}

func parse(line []byte) intake.Sample {
	s, err := intake.Parse(line)
	if err != nil {
		return intake.Sample{}
	}
	return s
}

// Settle runs a tanker's file through all stages.
func Settle(file []byte, book func(lab.Graded)) int {
	samples := Stage(Lines(file), 16, parse)
	graded := Stage(samples, 16, lab.Grade)
	priced := Stage(graded, 16, lab.Price)
	sealed := Stage(priced, 16, lab.Seal)
	n := 0
	for g := range sealed {
		book(g)
		n++
	}
	return n
}

// SettleBlocks does the same with blocks of lines.
func SettleBlocks(file []byte, block int, book func(lab.Graded)) int {
	blocks := make(chan [][]byte, 4)
	go func() {
		defer close(blocks)
		cur := make([][]byte, 0, block)
		for line := range bytes.Lines(file) {
			cur = append(cur, bytes.TrimSuffix(line, []byte{'\n'}))
			if len(cur) == block {
				blocks <- cur
				cur = make([][]byte, 0, block)
			}
		}
		blocks <- cur
	}()
	done := Stage(blocks, 4, func(lines [][]byte) []lab.Graded {
		out := make([]lab.Graded, len(lines))
		for i, line := range lines {
			out[i] = lab.Seal(lab.Price(lab.Grade(parse(line))))
		}
		return out
	})
	n := 0
	for part := range done {
		for _, g := range part {
			book(g)
		}
		n += len(part)
	}
	return n
}

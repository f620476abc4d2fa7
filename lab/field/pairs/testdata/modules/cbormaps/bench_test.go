package cbormaps

import (
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

type event struct {
	Name   string            `cbor:"name"`
	Labels map[string]string `cbor:"labels"`
	Counts map[string]int    `cbor:"counts"`
}

func events(n int) (all []event) {
	for i := range n {
		e := event{fmt.Sprint("event ", i), map[string]string{}, map[string]int{}}
		for l := range 20 {
			e.Labels[fmt.Sprint("label", l)] = fmt.Sprint("value ", i*l)
			e.Counts[fmt.Sprint("count", l)] = i * l
		}
		all = append(all, e)
	}
	return all
}

// batch encodes events so that equal ones have equal bytes.
func batch(mode cbor.EncMode, all []event) ([]byte, error) {
	return mode.Marshal(all)
}

func BenchmarkBatch(b *testing.B) {
	all := events(50)
	for name, options := range map[string]cbor.EncOptions{"canonical": cbor.CanonicalEncOptions(), "core": cbor.CoreDetEncOptions()} {
		mode, err := options.EncMode()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := batch(mode, all); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

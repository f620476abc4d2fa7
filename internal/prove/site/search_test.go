package site

import (
	"slices"
	"testing"
)

func TestCombinations(t *testing.T) {
	list := combinations([]Axis{{"a", []float64{1, 2}}, {"b", []float64{3, 4, 5}}})
	var got []string
	for _, s := range list {
		got = append(got, s.Words([]string{"a", "b"}, exact))
	}
	if !slices.Equal(got, []string{"a=1 b=3", "a=1 b=4", "a=1 b=5", "a=2 b=3", "a=2 b=4", "a=2 b=5"}) {
		t.Errorf("%q", got)
	}
}

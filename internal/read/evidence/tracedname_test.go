package evidence

import "testing"

// A function for several types has one name, whether a trace has it or a profile.
func TestTracedName(t *testing.T) {
	for name, want := range map[string]string{
		"main.work": "main.work",
		"shop/index.(*Store[go.shape.struct { Pass string; Tags []string }]).Put": "shop/index.(*Store[...]).Put",
		"slices.SortFunc[go.shape.[]*uint8,go.shape.*uint8]":                      "slices.SortFunc[...]",
		"main.Map[go.shape.int].func1":                                            "main.Map[...].func1",
		"operator new[](unsigned long)":                                           "operator new[](unsigned long)",
		"main.cut[go.shape.":                                                      "main.cut[go.shape.",
	} {
		if got := tracedName(name); got != want {
			t.Errorf("tracedName(%q) = %q, want %q", name, got, want)
		}
	}
}

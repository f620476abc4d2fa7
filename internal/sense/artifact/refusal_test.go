package artifact

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/agent/recording"
)

func TestGroupRefusals(t *testing.T) {
	got := GroupRefusals([]Refusal{
		{Member: EndpointMember, Why: "no port"},
		{Member: recording.TraceMember, Why: "too big", How: "less"},
		{Member: recording.HeapStartMember, Why: "404"}, {Member: recording.HeapEndMember, Why: "404"},
		{Member: recording.GoroutineEndMember, Why: "404"},
		{Member: recording.BlockMember, Why: "off"}, {Member: recording.MutexMember, Why: "off"},
	}, func(member string) bool { return member == recording.TraceMember })
	outside := GroupRefusals([]Refusal{{Member: EndpointMember, Why: "no port"}}, func(member string) bool { return member == recording.HeapEndMember })
	if want := "no trace, and of the runtime's profiles those that can be read from outside: no port"; outside[0].Why != want {
		t.Errorf("with a heap that was read from outside it says %q, want %q", outside[0].Why, want)
	}
	var text []string
	for _, r := range got {
		text = append(text, r.Why)
	}
	want := []string{"no trace and no profiles of the runtime: no port", "trace, not whole: too big", "without heap, goroutine at the end: 404", "without block, mutex: off"}
	if !slices.Equal(text, want) || got[1].How != "less" {
		t.Errorf("refusals %+v, want %q, the second with a way", got, want)
	}
}

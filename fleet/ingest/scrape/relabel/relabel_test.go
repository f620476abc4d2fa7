package relabel

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// spec returns the defaults, changed.
func spec(change func(*Spec)) Spec {
	s := Defaults()
	change(&s)
	return s
}

type labels = map[string]string

// TestApply has what the documentation of Prometheus says of each action, and its
// examples.
func TestApply(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules []Spec
		from  labels
		want  labels // nil is left out
	}{
		{"replace by the defaults copies", []Spec{spec(func(s *Spec) { s.SourceLabels, s.TargetLabel = []string{"a"}, "b" })},
			labels{"a": "x"}, labels{"a": "x", "b": "x"}},
		{"replace with values that are joined", []Spec{spec(func(s *Spec) {
			s.SourceLabels, s.Separator, s.Regex, s.TargetLabel, s.Replacement = []string{"a", "none", "b"}, "-", "(.*)--(.*)", "c", "$2/${1}_"
		})}, labels{"a": "x", "b": "y"}, labels{"a": "x", "b": "y", "c": "y/x_"}},
		{"a regular expression matches the whole", []Spec{spec(func(s *Spec) { s.SourceLabels, s.Regex, s.TargetLabel, s.Replacement = []string{"a"}, "b|c", "d", "e" })},
			labels{"a": "bc"}, labels{"a": "bc"}},
		{"nothing in is a fixed label", []Spec{spec(func(s *Spec) { s.TargetLabel, s.Replacement = "env", "production" })},
			labels{}, labels{"env": "production"}},
		{"nothing out deletes", []Spec{spec(func(s *Spec) { s.TargetLabel, s.Replacement = "a", "" })},
			labels{"a": "x", "b": "y"}, labels{"b": "y"}},
		{"a name that was found", []Spec{spec(func(s *Spec) {
			s.SourceLabels, s.Regex, s.TargetLabel, s.Replacement = []string{"a"}, "(\\w+)=(.*)", "x_${1}", "$2"
		})}, labels{"a": "k=v"}, labels{"a": "k=v", "x_k": "v"}},
		{"a name that is none", []Spec{spec(func(s *Spec) { s.SourceLabels, s.TargetLabel = []string{"a"}, "${1}" })},
			labels{"a": "9-"}, labels{"a": "9-"}},
		{"one port for another", []Spec{spec(func(s *Spec) {
			s.SourceLabels, s.Regex, s.TargetLabel, s.Replacement = []string{"__address__", "__meta_port"}, `([^:]+)(?::\d+)?;(\d+)`, "__address__", "$1:$2"
		})}, labels{"__address__": "10.0.0.1:80", "__meta_port": "6060"}, labels{"__address__": "10.0.0.1:6060", "__meta_port": "6060"}},
		{"keep keeps", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.Regex = Keep, []string{"__meta_dc"}, "london|paris" })},
			labels{"__meta_dc": "london"}, labels{"__meta_dc": "london"}},
		{"keep leaves out", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.Regex = Keep, []string{"__meta_dc"}, "london|paris" })},
			labels{"__meta_dc": "londonderry"}, nil},
		{"drop leaves out", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.Regex = Drop, []string{"a", "b"}, "x;y" })},
			labels{"a": "x", "b": "y"}, nil},
		{"drop keeps", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.Regex = Drop, []string{"a"}, "y" })},
			labels{"a": "x"}, labels{"a": "x"}},
		{"hashmod", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel, s.Modulus = HashMod, []string{"c"}, "d", 1000 })},
			labels{"a": "foo", "b": "bar", "c": "baz"}, labels{"a": "foo", "b": "bar", "c": "baz", "d": "976"}},
		{"a shard of three", []Spec{
			spec(func(s *Spec) {
				s.Action, s.SourceLabels, s.TargetLabel, s.Modulus = HashMod, []string{"c"}, "__tmp_hash", 1000
			}),
			spec(func(s *Spec) { s.Action, s.SourceLabels, s.Regex = Keep, []string{"__tmp_hash"}, "976" }),
		}, labels{"c": "baz"}, labels{"c": "baz", "__tmp_hash": "976"}},
		{"labelmap", []Spec{spec(func(s *Spec) { s.Action, s.Regex = LabelMap, "__meta_kubernetes_pod_label_(.+)" })},
			labels{"__meta_kubernetes_pod_label_app": "shop", "a": "x"}, labels{"__meta_kubernetes_pod_label_app": "shop", "app": "shop", "a": "x"}},
		{"labelmap with a replacement", []Spec{spec(func(s *Spec) { s.Action, s.Regex, s.Replacement = LabelMap, "(b.*)", "bar_${1}" })},
			labels{"a": "foo", "b1": "bar", "b2": "baz"}, labels{"a": "foo", "b1": "bar", "b2": "baz", "bar_b1": "bar", "bar_b2": "baz"}},
		{"labeldrop", []Spec{spec(func(s *Spec) { s.Action, s.Regex = LabelDrop, "(b.*)" })},
			labels{"a": "foo", "b1": "bar", "ab": "baz"}, labels{"a": "foo", "ab": "baz"}},
		{"labelkeep", []Spec{spec(func(s *Spec) { s.Action, s.Regex = LabelKeep, "(b.*)" })},
			labels{"a": "foo", "b1": "bar", "b2": "baz"}, labels{"b1": "bar", "b2": "baz"}},
		{"lowercase and uppercase", []Spec{
			spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel = Lowercase, []string{"a"}, "l" }),
			spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel = Uppercase, []string{"a", "l"}, "u" }),
		}, labels{"a": "bAr123"}, labels{"a": "bAr123", "l": "bar123", "u": "BAR123;BAR123"}},
		{"keepequal keeps", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel = KeepEqual, []string{"a"}, "b" })},
			labels{"a": "80", "b": "80"}, labels{"a": "80", "b": "80"}},
		{"keepequal leaves out", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel = KeepEqual, []string{"a"}, "b" })},
			labels{"a": "80", "b": "81"}, nil},
		{"dropequal leaves out", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel = DropEqual, []string{"a"}, "b" })},
			labels{"a": "80", "b": "80"}, nil},
		{"dropequal keeps", []Spec{spec(func(s *Spec) { s.Action, s.SourceLabels, s.TargetLabel = DropEqual, []string{"a"}, "b" })},
			labels{"a": "80"}, labels{"a": "80"}},
	} {
		var rules []*Rule
		for _, s := range c.rules {
			r, err := s.Rule()
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			rules = append(rules, r)
		}
		got := maps.Clone(c.from)
		keep, err := Apply(rules, got)
		if err != nil || keep != (c.want != nil) || keep && !maps.Equal(got, c.want) {
			t.Errorf("%s: %v %v, %v; want %v", c.name, got, keep, err, c.want)
		}
	}
}

// TestRefused has the mistakes that Prometheus refuses.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(s *Spec) {}, "replace needs target_label"},
		{func(s *Spec) { s.Action = "" }, `there is no action ""`},
		{func(s *Spec) { s.Regex = "(" }, "not a regular expression"},
		{func(s *Spec) { s.TargetLabel = "a-b" }, `target_label "a-b" is not the name`},
		{func(s *Spec) { s.TargetLabel = "0${3}" }, `target_label "0${3}" is not the name`},
		{func(s *Spec) { s.TargetLabel = "${1" }, `target_label "${1" is not the name`},
		{func(s *Spec) { s.Action = HashMod; s.TargetLabel = "a" }, "needs a modulus"},
		{func(s *Spec) { s.Action = HashMod; s.Modulus = 2 }, "hashmod needs target_label"},
		{func(s *Spec) { s.Action = Lowercase; s.TargetLabel = "${3}" }, "is not the name"},
		{func(s *Spec) { s.Action = Uppercase; s.TargetLabel = "a"; s.Replacement = "b" }, "uppercase has no replacement"},
		{func(s *Spec) { s.Action = LabelMap; s.Replacement = "-$1" }, "does not make the name of a label"},
		{func(s *Spec) { s.Action = KeepEqual; s.TargetLabel = "a"; s.Regex = "b" }, "keepequal has only"},
		{func(s *Spec) { s.Action = DropEqual; s.TargetLabel = "a"; s.Separator = "," }, "dropequal has only"},
		{func(s *Spec) { s.Action = LabelDrop; s.SourceLabels = []string{"a"} }, "labeldrop has only regex"},
		{func(s *Spec) { s.Action = LabelKeep; s.TargetLabel = "a" }, "labelkeep has only regex"},
	} {
		s := spec(c.change)
		if _, err := s.Rule(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", s, err, c.want)
		}
	}
}

// TestBounds holds that no rules make labels without end.
func TestBounds(t *testing.T) {
	double, err := spec(func(s *Spec) { s.SourceLabels, s.TargetLabel, s.Replacement = []string{"a"}, "a", "$1$1" }).Rule()
	if err != nil {
		t.Fatal(err)
	}
	rules := make([]*Rule, 40)
	for i := range rules {
		rules[i] = double
	}
	if keep, err := Apply(rules, labels{"a": "x"}); keep || err == nil || !strings.Contains(err.Error(), "rule 13 of") {
		t.Errorf("%v, %v", keep, err)
	}
	more, err := spec(func(s *Spec) { s.Action, s.Replacement = LabelMap, "x$1" }).Rule()
	if err != nil {
		t.Fatal(err)
	}
	many := labels{}
	for i := range mostLabels {
		many[fmt.Sprint("l", i)] = "v"
	}
	if keep, err := Apply([]*Rule{more}, many); keep || err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v, %v", keep, err)
	}
}

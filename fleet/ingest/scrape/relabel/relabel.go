// Package relabel changes the labels of targets by rules, as Prometheus does before it
// scrapes them.
//
// It hides what an action does with which of its fields, and what bounds its results: the
// labels that it changes come from outside. Its types are [Spec], which is what a file
// says, and [Rule], which has been checked. It knows no label by its name.
package relabel

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Action is what a rule does.
type Action string

// The actions of Prometheus, with its names.
const (
	Replace   Action = "replace"
	Keep      Action = "keep"
	Drop      Action = "drop"
	HashMod   Action = "hashmod"
	LabelMap  Action = "labelmap"
	LabelDrop Action = "labeldrop"
	LabelKeep Action = "labelkeep"
	Lowercase Action = "lowercase"
	Uppercase Action = "uppercase"
	KeepEqual Action = "keepequal"
	DropEqual Action = "dropequal"
)

var actions = []Action{Replace, Keep, Drop, HashMod, LabelMap, LabelDrop, LabelKeep, Lowercase, Uppercase, KeepEqual, DropEqual}

func (a Action) among(all ...Action) bool { return slices.Contains(all, a) }

// A Spec is what a file says of a rule, with Prometheus' names.
type Spec struct {
	SourceLabels []string
	Separator    string
	Regex        string // matches the whole of a text
	Modulus      int64
	TargetLabel  string
	Replacement  string
	Action       Action
}

// Defaults returns a rule of which a file says nothing.
func Defaults() Spec {
	return Spec{Separator: ";", Regex: "(.*)", Replacement: "$1", Action: Replace}
}

// A Rule is a [Spec] without mistakes.
type Rule struct {
	spec  Spec
	regex *regexp.Regexp
}

const (
	// longest bounds the name and the value of a label that a rule makes, and mostLabels
	// how many a target has while the rules run, the __meta_ labels included.
	longest    = 4096
	mostLabels = 500
)

var (
	labelName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	// template is a name with references like $1, ${1} or ${name} in it.
	template = regexp.MustCompile(`^(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))(?:\w|\$(?:\{\w+\}|\w+))*$`)
)

// Rule checks a spec as Prometheus does.
func (s Spec) Rule() (*Rule, error) {
	regex, err := regexp.Compile("^(?s:" + s.Regex + ")$")
	if err != nil {
		return nil, fmt.Errorf("regex %.80q is not a regular expression: %w", s.Regex, err)
	}
	if !s.Action.among(actions...) {
		return nil, fmt.Errorf("there is no action %.40q, only %s", s.Action, strings.Trim(fmt.Sprint(actions), "[]"))
	}
	if err := s.fields(); err != nil {
		return nil, err
	}
	return &Rule{s, regex}, nil
}

// fields reports fields that are wrong for the action.
func (s Spec) fields() error {
	d := Defaults()
	equal := s.Action.among(KeepEqual, DropEqual)
	changesCase := s.Action.among(Lowercase, Uppercase)
	switch {
	case s.Action == HashMod && s.Modulus < 1:
		return errors.New("hashmod needs a modulus of 1 or more")
	case s.TargetLabel == "" && (equal || changesCase || s.Action.among(Replace, HashMod)):
		return fmt.Errorf("%s needs target_label", s.Action)
	case s.Action == Replace && !template.MatchString(s.TargetLabel),
		(equal || changesCase || s.Action == HashMod) && !labelName.MatchString(s.TargetLabel):
		return fmt.Errorf("target_label %.80q is not the name of a label", s.TargetLabel)
	case s.Action == LabelMap && !template.MatchString(s.Replacement):
		return fmt.Errorf("replacement %.80q of labelmap does not make the name of a label", s.Replacement)
	case changesCase && s.Replacement != d.Replacement:
		return fmt.Errorf("%s has no replacement", s.Action)
	case equal && (s.Regex != d.Regex || s.Modulus != 0 || s.Separator != d.Separator || s.Replacement != d.Replacement):
		return fmt.Errorf("%s has only source_labels and target_label", s.Action)
	case s.Action.among(LabelDrop, LabelKeep) &&
		(len(s.SourceLabels) > 0 || s.TargetLabel != "" || s.Modulus != 0 || s.Separator != d.Separator || s.Replacement != d.Replacement):
		return fmt.Errorf("%s has only regex", s.Action)
	}
	return nil
}

// Apply changes the labels of a target by each rule in turn. It is false where a rule
// leaves out the target. It is an error that a label becomes too long, or that there are
// too many.
func Apply(rules []*Rule, labels map[string]string) (bool, error) {
	for i, r := range rules {
		keep, err := r.apply(labels)
		if err != nil {
			return false, fmt.Errorf("rule %d of relabel_configs: %w", i+1, err)
		}
		if !keep {
			return false, nil
		}
	}
	return true, nil
}

func (r *Rule) apply(labels map[string]string) (keep bool, err error) {
	s := r.spec
	values := make([]string, len(s.SourceLabels))
	for i, name := range s.SourceLabels {
		values[i] = labels[name]
	}
	value := strings.Join(values, s.Separator)
	switch s.Action {
	case Keep:
		return r.regex.MatchString(value), nil
	case Drop:
		return !r.regex.MatchString(value), nil
	case KeepEqual:
		return labels[s.TargetLabel] == value, nil
	case DropEqual:
		return labels[s.TargetLabel] != value, nil
	case Lowercase:
		return true, set(labels, s.TargetLabel, strings.ToLower(value))
	case Uppercase:
		return true, set(labels, s.TargetLabel, strings.ToUpper(value))
	case HashMod:
		sum := md5.Sum([]byte(value)) // of which Prometheus takes the last eight bytes
		return true, set(labels, s.TargetLabel, strconv.FormatUint(binary.BigEndian.Uint64(sum[8:])%uint64(s.Modulus), 10))
	case Replace:
		return true, r.replace(labels, value)
	}
	return true, r.names(labels)
}

func (r *Rule) replace(labels map[string]string, value string) error {
	found := r.regex.FindStringSubmatchIndex(value)
	if found == nil {
		return nil
	}
	name := string(r.regex.ExpandString(nil, r.spec.TargetLabel, value, found))
	if !labelName.MatchString(name) { // what was found is no name: the rule does nothing
		return nil
	}
	return set(labels, name, string(r.regex.ExpandString(nil, r.spec.Replacement, value, found)))
}

// names applies an action that goes over all labels. It sees them as they were before.
func (r *Rule) names(labels map[string]string) error {
	before := maps.Clone(labels)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		matches := r.regex.MatchString(name)
		switch {
		case r.spec.Action == LabelMap && matches:
			if err := set(labels, r.regex.ReplaceAllString(name, r.spec.Replacement), before[name]); err != nil {
				return err
			}
		case r.spec.Action == LabelDrop && matches, r.spec.Action == LabelKeep && !matches:
			delete(labels, name)
		}
	}
	return nil
}

// set gives a label a value; without one it is gone.
func set(labels map[string]string, name, value string) error {
	if value == "" {
		delete(labels, name)
		return nil
	}
	if len(name) > longest || len(value) > longest {
		return fmt.Errorf("label %.80q, or its value, becomes longer than %d bytes", name, longest)
	}
	labels[name] = value
	if len(labels) > mostLabels {
		return fmt.Errorf("more than %d labels", mostLabels)
	}
	return nil
}

// Package flame makes trees of call stacks: where a program's CPU time, its
// goroutines' waits or its memory went, by who called whom.
//
// It hides where the stacks of each kind come from, how equal ones become one
// path, what is left out of a tree that is too large to be looked at, how the
// trees of two runs are laid over each other, and whose a function is. Its
// types are [Kind] (one of [Kinds]), [Options], [Tree] in columns, and
// [Owners].
//
// flame never draws, and never reads anything but the model.
package flame

import (
	"fmt"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// MaxNodes is the most nodes that a tree may have. A picture of 2,000 pixels
// shows some thousands at a time; this many can still be laid out between two
// frames of an animation.
const MaxNodes = 200_000

// Options say which tree.
type Options struct {
	Kind string
	// Group keeps stacks of goroutines with this start function, as
	// [Tree.Groups] names it; empty keeps all.
	Group string
	// Label keeps samples with this pprof label, as [Tree.Labels] writes it; empty keeps all.
	Label string
	// Min leaves out nodes with less than this share of the whole, 0 to 1.
	Min float64
	// Limit leaves out the smallest nodes when there are more; 0 is [MaxNodes].
	// Equally small ones are left out together.
	Limit int
	// Base is a run to compare with; nil for none.
	Base *model.Model
}

// A Tree is all stacks of one kind, equal paths merged. Node 0 is the root; a
// node's parent comes before it, and its children, largest first, follow it
// with all that is below them.
//
// Sum is Self and the sums of the children; where children were left out, the
// difference is theirs.
type Tree struct {
	Kind, Unit string
	Total      int64 // of this run; Sum of the root
	Funcs      []Func

	Parent []int32 // -1 for the root
	Func   []int32 // index in Funcs; -1 for the root
	Line   []int32 // where the function called on, or was, in its largest stack; 0 when not known
	Self   []int64
	Sum    []int64
	Base   []int64 // Sum in the base run, times Ratio; nil without one

	LeftNodes int
	// Groups are the start functions that have stacks of this kind, largest
	// first; at most [maxGroups] of them.
	Groups []string
	// Labels are the pprof labels that samples of this kind have, as "key=value",
	// those with most first; at most [maxGroups] of them.
	Labels []string
	// Note says in words how the values were measured and what they miss.
	Note string

	BaseTotal int64   // of the base run, times Ratio
	Ratio     float64 // 1 without a base run
	// PerWhat is operation or second where the base run was brought to as many
	// of them as this run had; empty where its values are as they were measured.
	PerWhat string
}

// A Func is a function of a tree.
type Func struct {
	Name  string
	File  string // empty when not known
	Owner Owner
}

const maxGroups = 500

// nothing returns the error that a run has nothing of a kind as it was chosen,
// and base is whether it is the base run that lacks it.
func nothing(m *model.Model, k *kind, c choice, base bool) error {
	run, of, hint := "this run", "", diagnosis.HowToGet(&m.Run, k.source)
	if base {
		run, hint = "the base run", "choose a kind that both runs have"
	}
	if c.group != "" {
		of, hint = fmt.Sprintf(" of %q", clip(c.group, 80)), "choose another group, or all of them"
	}
	if c.label != "" {
		of, hint = of+fmt.Sprintf(" with the label %q", clip(c.label, 80)), "choose another label, or all of them"
	}
	return problem.New(problem.Absence, hint, "%s has no stacks of kind %s%s", run, k.name, of)
}

// Build makes a tree. Its errors are of type [*problem.Error]. The same model gives
// the same tree, in whatever order its samples are.
func Build(m *model.Model, o Options) (*Tree, error) {
	k := kindNamed(o.Kind)
	if k == nil {
		return nil, problem.New(problem.Misuse, "", "no kind of stacks %q", clip(o.Kind, 80))
	}
	b := newBuilder()
	w, err := b.take(k, m, choice{o.Group, o.Label, nil}, thisRun)
	if err != nil {
		return nil, err
	}
	t := &Tree{Kind: k.name, Unit: k.unit(m), Total: w.total, Groups: largest(w.groups), Labels: largest(w.labels), Ratio: 1, Note: k.words(m, w)}
	if o.Base != nil {
		base, err := b.take(k, o.Base, choice{o.Group, o.Label, nil}, baseRun)
		if err != nil {
			return nil, err
		}
		t.Ratio, t.PerWhat = k.ratio(m, o.Base)
		t.BaseTotal = scaled(base.total, t.Ratio)
		if c := k.comparability(m, o.Base, t.PerWhat); c != "" {
			t.Note += " " + c
		}
		b.ratio = t.Ratio
	}
	b.tree(t, o)
	return t, nil
}

// Marks are what some of a tree's entries add up to: its total, how many
// observations they are, and their sum at each node of the tree that has one.
type Marks struct {
	Total, Count int64
	Nodes        []int32 // of the tree that [Build] makes with the same Options
	Sums         []int64
}

// Mark says where in a tree some entries are: samples by their index in the
// profile, waits by that in the trace.
func Mark(m *model.Model, o Options, marked func(entry int) bool) (*Marks, error) {
	k := kindNamed(o.Kind)
	if k == nil {
		return nil, problem.New(problem.Misuse, "", "no kind of stacks %q", clip(o.Kind, 80))
	}
	b := newBuilder()
	if _, err := b.take(k, m, choice{o.Group, o.Label, nil}, thisRun); err != nil {
		return nil, err
	}
	// They are a part of the run, so that they add no node and leave the order
	// as it is.
	w, err := b.take(k, m, choice{o.Group, o.Label, marked}, baseRun)
	if err != nil {
		return nil, err
	}
	t := &Tree{}
	o.Base = m
	b.tree(t, o)
	marks := &Marks{Total: w.total, Count: w.count}
	for i, sum := range t.Base {
		if sum > 0 {
			marks.Nodes, marks.Sums = append(marks.Nodes, int32(i)), append(marks.Sums, sum)
		}
	}
	return marks, nil
}

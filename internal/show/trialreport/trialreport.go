// Package trialreport shows what experiments came to: a trial, a search for a
// setting or a capacity, a gate, a comparison and a replay, to people, to CI and
// to other programs.
//
// It hides which words a verdict of each of them takes, how its figures and curves
// are drawn, and what JUnit, SARIF and GitHub want to read. Each kind of result
// has a function for each of its formats.
//
// trialreport never judges, and asks no clock: a saved result and a fresh one give
// the same bytes.
package trialreport

import "github.com/gowhy/gowhy/internal/ground/layout"

// A texter writes the parts of a result for a terminal, a markdown those for a
// review.
type (
	texter   struct{ *layout.Text }
	markdown struct{ layout.Page }
)

func newTexter(o layout.Options) *texter { return &texter{layout.NewText(o)} }

// labelled is the column at which texts behind a label begin.
const labelled = 14

// Package trial puts a program to the test: it joins package experiment, which
// decides and starts nothing, and package subject, which runs and decides nothing.
//
// It hides how what changes becomes two programs, what of a change a finding
// proposes and a recording fills in, which metric decides where the one asked for
// cannot be had, how a knob is read and where its values go in a command, and how
// a search gets a trace of a setting. A [Setup] is a program with and without a
// [Change]; a [Claim] is the finding that it tries; a [Bench] runs a program with
// settings.
//
// trial prints nothing: a [Show] learns how far it is.
package trial

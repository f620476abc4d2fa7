// Package compare says what changed between two recordings, two sets of
// benchmark results, or two saved experiments of one kind.
//
// It hides how unlike windows are made comparable (per operation where
// operations are known, else per second), how functions, findings and
// benchmarks are matched, which statistics unpaired repetitions allow, and what
// a difference without repetitions may be called. Its type is [Comparison],
// which every report renders; [Runs], [Trials] and [Results] make it, and
// [Comparison.Judge] holds it to limits.
//
// compare runs nothing and never blames: a difference of two single runs is a
// difference and no verdict.
package compare

// Package artifact knows the pieces of a recording by their content: what the
// first bytes of one say that it is, and the forms that gowhy alone writes.
//
// It hides how a program's counters, its metrics, its system calls, and the
// samples of the kernel with their times stand in a file: each form is written
// and read here, so that recording and reading agree and know nothing of each
// other. A [Refusal] is a piece that could not be had.
//
// What it reads may come from anywhere: lines, counts and tables are bounded, and
// what comes before the first fault is kept.
package artifact

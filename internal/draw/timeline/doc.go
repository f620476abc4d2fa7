// Package timeline says what to draw for a window of a trace, at the price of
// the picture and not of the trace.
//
// It hides the level-of-detail pyramid: how tens of millions of stretches of
// time become a few megabytes that answer any zoomed-out picture, which pieces
// of the trace are read again for a zoomed-in one, and how long those are kept.
//
// A [Builder] takes the pieces of a trace as they are read and makes a
// [Timeline], which answers: [Timeline.Lanes], [Timeline.Tile], [Timeline.At],
// [Timeline.Edges], [Timeline.Select], [Timeline.Search], [Timeline.Peak].
//
// All times are since the first piece's begin, which is the window's start of
// package model when the whole trace is looked at.
//
// Lanes have names that can stand in a URL:
//
//	ps            all Ps together          p:ID     one P
//	threads       all threads together     m:ID     one thread
//	gc            collections              stw      stopped worlds
//	g:N           a group of goroutines    go:ID    one goroutine; go:ID@BIRTH where an id was used again
//	tasks         user tasks               task:ID  one of the slowest
//	regions       user regions             regions:N  those of one name
//	samples       CPU samples of the trace
package timeline

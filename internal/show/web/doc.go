// Package web is the page: what gowhy view serves and what a report file holds.
//
// It hides how the page is kept to this machine and this user (a token, checks of host and
// origin, a strict policy for the browser), the table of questions, how an answer is packed,
// how files that are dropped on the page become runs, and how all of it is put into one file.
// Its types are [View], a run that is open and answers questions about itself, [Server],
// which has the runs and talks to the browser. What goes over the wire is in api.go.
//
// One table, [endpoints], has the questions; the server and the report file ask the same
// functions, so that a file shows what the page showed. A function of the table is a pure
// question to a View that nobody changes any more.
//
// web never reads evidence: files that are dropped on the page are handed to [Options.Open].
// It connects to nobody, and it listens at the address in its options.
package web

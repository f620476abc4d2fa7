// Package intake sorts and reads the files that somebody gives together, for the
// page and for comparing.
//
// It hides how the content of a file tells it from others, which loose files are one run and
// which are several, what is left out when one of them cannot be read, how a saved result is
// decoded and what of it can be compared, and how what was recorded is had as it was. [Sort]
// names the runs and results, a [Reader] opens a run, [Compare] compares two results.
//
// intake draws nothing and serves nothing: package web does.
package intake

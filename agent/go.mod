module github.com/gowhy/gowhy/agent

// The oldest Go that can compile this. It requires nothing, so that a program
// that imports it keeps the version of everything else.
go 1.21

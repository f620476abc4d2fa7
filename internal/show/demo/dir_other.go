//go:build !linux

package demo

// scratch returns where the temporary directory is made; "" is the system's
// choice.
func scratch() string { return "" }

// Package lab holds the cases: programs with a known illness and its cure,
// one folder each. Their flags are the illnesses. gowhy must name the illness
// when a flag asks for it, and stay silent when it is healed.
package lab

// Package lab holds the cases: programs with a known illness and its cure, one
// folder each. Their flags are the illnesses. gowhy must name the illness when a
// flag asks for it, and stay silent when it is healed: truth.yaml in each folder
// says so, and lab/score counts how often it is.
//
//	filepool    a pool of workers that write files
//	ruleengine  messages from Kafka, rules, results in a database
//	consumer    a framework that reads messages
//	top         a monitor of processes
//	zonedns     an authoritative name server
//	habits      small illnesses without a story
//	controls    programs that are well and look ill
//	waits       programs whose goroutines wait: stuck, slow and fine
//
// The module is joined to gowhy's own by go.work: cases use gowhy's agent as any
// program may, and lab/top the product's own reader of /proc.
package lab

package corpus

import "encoding/binary"

// A Type is the first byte of an event on the wire.
type Type uint8

// The types of events. This list is kept apart from the reader's own on
// purpose: a wrong number in either makes the tests fail.
const (
	EventBatch   Type = 1
	Stacks       Type = 2
	Stack        Type = 3
	Strings      Type = 4
	String       Type = 5
	CPUSamples   Type = 6
	CPUSample    Type = 7
	Frequency    Type = 8
	ProcsChange  Type = 9  // procs, stack
	ProcStart    Type = 10 // p, p_seq
	ProcStop     Type = 11
	ProcSteal    Type = 12 // p, p_seq, m
	ProcStatus   Type = 13 // p, status
	GoCreate     Type = 14 // g, its stack, stack
	GoCreateSys  Type = 15 // g
	GoStart      Type = 16 // g, g_seq
	GoDestroy    Type = 17
	GoDestroySys Type = 18
	GoStop       Type = 19 // reason, stack
	GoBlock      Type = 20 // reason, stack
	GoUnblock    Type = 21 // g, g_seq, stack
	SyscallBegin Type = 22 // p_seq, stack
	SyscallEnd   Type = 23
	SyscallLost  Type = 24 // GoSyscallEndBlocked
	GoStatus     Type = 25 // g, m, status
	STWBegin     Type = 26 // kind, stack
	STWEnd       Type = 27
	GCActive     Type = 28 // gc_seq
	GCBegin      Type = 29 // gc_seq, stack
	GCEnd        Type = 30 // gc_seq
	SweepActive  Type = 31 // p
	SweepBegin   Type = 32 // stack
	SweepEnd     Type = 33 // swept, reclaimed
	AssistActive Type = 34 // g
	AssistBegin  Type = 35 // stack
	AssistEnd    Type = 36
	HeapAlloc    Type = 37 // bytes
	HeapGoal     Type = 38 // bytes
	GoLabel      Type = 39 // label
	TaskBegin    Type = 40 // task, parent, name, stack
	TaskEnd      Type = 41 // task, stack
	RegionBegin  Type = 42 // task, name, stack
	RegionEnd    Type = 43 // task, name, stack
	UserLog      Type = 44 // task, key, value, stack
	GoSwitch     Type = 45 // g, g_seq
	GoSwitchEnd  Type = 46 // g, g_seq
	CreateBlockd Type = 47 // g, its stack, stack
	StatusStack  Type = 48 // g, m, status, stack
	Experimental Type = 49
	Sync         Type = 50
	Clock        Type = 51
	EndOfGen     Type = 52
)

// What GoStatus and ProcStatus say.
const (
	Runnable = 1
	Running  = 2
	InSys    = 3
	Waiting  = 4

	ProcRunning   = 1
	ProcIdle      = 2
	ProcInSys     = 3
	ProcAbandoned = 4
)

// NoThread is the thread of events that no thread wrote.
const NoThread = ^uint64(0)

const (
	headerSize   = 16
	maxBatch     = 64 << 10
	maxEventSize = 1 + 6*binary.MaxVarintLen64
)

// header returns the first 16 bytes of a trace of format version 1.minor.
func header(minor int) []byte {
	h := make([]byte, headerSize)
	copy(h, "go 1.")
	h[5], h[6] = byte('0'+minor/10), byte('0'+minor%10)
	copy(h[7:], " trace")
	return h
}

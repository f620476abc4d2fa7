package model

import "time"

// Tasks holds user annotations of runtime/trace.
type Tasks struct {
	Tasks   []TaskType
	Regions []RegionType
	Logs    []LogCount
	// Slow holds the slowest tasks of each type, slowest first.
	Slow []Task
}

// A TaskType is all user tasks of one name.
type TaskType struct {
	Name     string
	Count    int64     // seen in the window
	Complete int64     // begun and ended in it
	Latency  Histogram // of the complete ones
}

// A Task is one user task.
type Task struct {
	ID, Parent uint64
	Name       string
	Begin, End time.Duration // negative when outside the window
	Logs       int64
}

// A RegionType is all user regions of one name.
type RegionType struct {
	Name    string
	Count   int64 // ended in the window
	Open    int64 // begun, not ended
	Latency Histogram
	Times   // what its goroutines did inside
}

// A LogCount is how often a category was logged.
type LogCount struct {
	Category string
	Count    int64
	Example  string
}

package model

import "time"

// A Shortage is what the kernel refused for want of something that is limited, as the
// program's own log says it.
type Shortage struct {
	File    string // the log
	Errno   string // "EMFILE", "ENFILE", "ENOMEM" or "EAGAIN"
	Call    string // what was asked for: a key of [ShortCalls]
	Lines   int64  // that say it
	Example string // what one of them says, shortened
	// HeapBytes is how much memory the runtime had got for the heap when it got no more, as it
	// says itself; 0 where no line does.
	HeapBytes int64
	// Over is the time from the first line to the last by the log's own times; 0 where
	// it has none.
	Over time.Duration
}

// ShortCalls are requests to the kernel, in a few words.
var ShortCalls = map[string]string{
	"accept": "accepting connections", "dial": "connecting", "lookup": "looking up names", "listen": "listening",
	"socket": "opening sockets", "open": "opening files", "pipe": "making pipes", "poll": "making a poller",
	"watch": "watching files", "fork": "starting processes", "thread": "starting threads",
	"clone": "starting threads or processes", "memory": "mapping memory", "other": "other calls",
}

package model

import (
	"strings"
	"testing"
)

func TestStateOf(t *testing.T) {
	for stack, want := range map[string]string{
		"runtime.gopark runtime.goparkunlock runtime.semacquire1 internal/sync.runtime_SemacquireMutex internal/sync.(*Mutex).lockSlow internal/sync.(*Mutex).Lock sync.(*Mutex).Lock main.f": StateMutex,
		"sync.runtime_SemacquireMutex sync.(*Mutex).lockSlow sync.(*Mutex).Lock sync.(*RWMutex).Lock main.f":                                                                                  StateWLock,
		"sync.runtime_Semacquire sync.(*RWMutex).RLock main.f":                                                                                                                                StateRLock,
		"runtime.gopark runtime.chanrecv runtime.chanrecv2 main.f":                                                                                                                            "chan receive",
		"runtime.gopark runtime.selectgo main.f":                                                                                                                                              "select",
		"runtime.gopark runtime.netpollblock internal/poll.runtime_pollWait net.(*conn).Read":                                                                                                 "IO wait",
		"runtime.gopark time.Sleep main.f":                                                                                                                                                    "sleep",
		"runtime.gopark sync.runtime_SemacquireWaitGroup sync.(*WaitGroup).Wait main.f":                                                                                                       "sync.WaitGroup.Wait",
		"runtime.gopark runtime.somethingNew main.f":                                                                                                                                          StateWaiting,
		"main.f runtime.main":                         StateRunning,
		"runtime.mallocgc main.f sync.(*Once).doSlow": StateRunning,
		"internal/runtime/syscall.Syscall6 syscall.Syscall6 syscall.Write os.(*File).Write": "syscall",
		"runtime.gopark runtime.runFinalizers":                                              "finalizer wait",
		"main.send runtime.chansend1":                                                       StateRunning,
	} {
		var frames []Frame
		for _, f := range strings.Fields(stack) {
			frames = append(frames, Frame{Func: f})
		}
		if got := StateOf(frames); got != want {
			t.Errorf("%s: %q, want %q", stack, got, want)
		}
	}
}

func TestWantsLock(t *testing.T) {
	for state, want := range map[string]bool{"sync.Mutex.Lock": true, "sync.RWMutex.RLock": true, "sync.RWMutex.Lock": true,
		"running": false, "semacquire": false} {
		if got := WantsLock(state); got != want {
			t.Errorf("WantsLock(%s) = %v, want %v", state, got, want)
		}
	}
}

// TestAsker takes a lock of a program's own for one, and no function beside it.
func TestAsker(t *testing.T) {
	for stack, want := range map[string]int{
		"sync.runtime_SemacquireMutex sync.(*Mutex).Lock main.f main.main":                     2,
		"sync.runtime_SemacquireMutex sync.(*Mutex).Lock main.(*guard).Lock main.f main.main":  3,
		"sync.(*RWMutex).RLock example.com/locks.lock example.com/locks.(*Mutex).RLock main.f": 3,
		"sync.runtime_SemacquireMutex sync.(*Mutex).Lock main.(*door).Lock":                    2,
		"runtime.gopark runtime.chanrecv1 main.(*file).Lock main.f":                            2,
		"runtime.gopark sync.(*WaitGroup).Wait main.wait main.(*guard).Lock main.f":            2,
		"runtime.gopark runtime.semacquire1":                                                   -1,
	} {
		var frames []Frame
		for _, f := range strings.Fields(stack) {
			frames = append(frames, Frame{Func: f})
		}
		if got := Asker(frames); got != want {
			t.Errorf("%s: frame %d asks, want %d", stack, got, want)
		}
	}
}

func TestReceiver(t *testing.T) {
	for function, want := range map[string]string{
		"example.com/a/b.(*T).f": "example.com/a/b.T", "example.com/a/b.T.f": "example.com/a/b.T", "main.(*T[...]).f.func1": "main.T[...]",
		"main.f": "", "main.f.func1": "", "main.init.0": "", "main.f.gowrap1": "", "main.f.deferwrap2": "", "main.glob..func1": "", "gopkg.in/yaml%2ev3.(*node).add": "gopkg.in/yaml.v3.node",
	} {
		if got := Receiver(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}

package diagnosis

import (
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestWaitsOfStacks names what stacks wait for, of the block profile and of the wall-clock profile,
// where a name may go on behind what the runtime's functions have in common.
func TestWaitsOfStacks(t *testing.T) {
	for _, c := range []struct{ stack, waits, state string }{
		{"sync.(*RWMutex).RLock.deferwrap1", "RWMutex.RLock", "RWMutex.RLock"},
		{"sync.(*RWMutex).rLockSlow", "RWMutex.RLock", "RWMutex.RLock"},
		{"sync.(*RWMutex).Lock", "RWMutex.Lock", "RWMutex.Lock"},
		{"sync.(*WaitGroup).Wait.func1", "WaitGroup.Wait", "WaitGroup.Wait"},
		{"sync.(*WaitGroup).Go.func1", "other waits", "running"},
		{"sync.(*Cond).Wait", "Cond.Wait", "Cond.Wait"},
		{"runtime.chanrecv2", "channel receive", "channel receive"},
		{"runtime.chansend1", "channel send", "channel send"},
		{"runtime.selectgo.func3", "select", "select"},
		{"runtime.block.func1", "select", "select"},
		{"internal/poll.(*fdMutex).rwlock", "lock of a file or socket", "lock of a file or socket"},
		{"sync.(*Mutex).Lock", "Mutex.Lock", "Mutex.Lock"},
		{"internal/sync.(*Mutex).lockSlow", "Mutex.Lock", "Mutex.Lock"},
		{"internal/sync.(*Mutex).lockSlow internal/sync.(*HashTrieMap[...]).Swap", "lock inside a sync.Map", "lock inside a sync.Map"},
		{"sync.(*Mutex).Lock sync.(*Map).Store", "lock inside a sync.Map", "lock inside a sync.Map"},
		{"runtime.netpollblock", "other waits", "network"},
		{"internal/poll.runtime_pollWait", "other waits", "network"},
		{"time.Sleep", "other waits", "sleep"},
		{"syscall.Syscall6", "other waits", "system call or C"},
		{"internal/runtime/syscall.Syscall6", "other waits", "system call or C"},
		{"runtime.cgocall", "other waits", "system call or C"},
		{"runtime.gopark", "other waits", "other waits"},
		{"runtime.goparkunlock", "other waits", "other waits"},
		{"runtime.sigNoteSleep", "other waits", "other waits"},
		{"runtime.notetsleepg", "other waits", "other waits"},
		{"main.a runtime.gopark", "other waits", "running"},
		{"main.a main.b main.c main.d main.e time.Sleep", "other waits", "sleep"},
		{"main.a main.b main.c main.d main.e main.f time.Sleep", "other waits", "running"},
		{"", "other waits", "running"},
	} {
		t.Run(c.stack, func(t *testing.T) {
			m := &model.Model{}
			frames := m.Stacks.Frames(stackOf(m, c.stack))
			if got := waitedFor(frames); got != c.waits {
				t.Errorf("waitedFor(%s) = %s, want %s", c.stack, got, c.waits)
			}
			if got := stateOf(frames); got != c.state {
				t.Errorf("stateOf(%s) = %s, want %s", c.stack, got, c.state)
			}
			if got, want := InSyncMap(frames), strings.Contains(c.stack, "Map"); got != want {
				t.Errorf("InSyncMap(%s) = %t, want %t", c.stack, got, want)
			}
		})
	}
}

// TestLeafOf leaves out what allocates, and nothing that is only named like it.
func TestLeafOf(t *testing.T) {
	const all = "runtime.mallocgcSmall runtime.makeslice64 runtime.growsliceNoAlloc runtime.newobject runtime.newarray runtime.systemstack runtime.profilealloc"
	for stack, want := range map[string]string{
		all + " main.f":              "main.f",
		all:                          "runtime.mallocgcSmall",
		"main.makeThings main.f":     "main.makeThings",
		"main.newobject main.f":      "main.newobject",
		"runtime.newobjects main.f":  "runtime.newobjects",
		"runtime.convTstring main.f": "runtime.convTstring",
		"":                           "(no stack)",
	} {
		m := &model.Model{}
		if got := leafOf(m.Stacks.Frames(stackOf(m, stack))).Func; got != want {
			t.Errorf("leafOf(%q) = %s, want %s", stack, got, want)
		}
	}
}

// TestWaitingIn finds the first frame that is no part of how goroutines wait.
func TestWaitingIn(t *testing.T) {
	for stack, want := range map[string]string{
		"runtime.gopark sync.(*Cond).Wait internal/poll.(*FD).Read net.(*conn).Read": "net.(*conn).Read",
		"runtime.gopark sync.(*Cond).Wait":                                           "runtime.gopark",
		"net.(*conn).Read runtime.gopark":                                            "net.(*conn).Read",
	} {
		m := &model.Model{}
		if got := waitingIn(m.Stacks.Frames(stackOf(m, stack))).Func; got != want {
			t.Errorf("waitingIn(%s) = %s, want %s", stack, got, want)
		}
	}
}

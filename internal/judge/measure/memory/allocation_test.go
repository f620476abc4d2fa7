package memory

import (
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// First use of pages is where Go code or a call that reads writes to memory.
func TestTouches(t *testing.T) {
	for stack, want := range map[string]bool{
		"main.work":                                                    true,
		"runtime.memmove main.work":                                    true,
		"runtime.memclrNoHeapPointers":                                 true,
		"runtime.cgocall main.c":                                       true,
		"runtime.findRunnable":                                         false,
		"runtime.memmove runtime.mallocgc main.work":                   false,
		"runtime.scanobject runtime.gcBgMarkWorker":                    false,
		"internal/runtime/syscall.Syscall6 os.(*File).Read main.work":  true,
		"internal/runtime/syscall.Syscall6 os.(*File).Write main.work": false,
		"syscall.read os.(*File).ReadAt main.work":                     true,
		"syscall.Syscall os.(*File).Write main.work":                   false,
		"syscall.Syscall net.Readers main.Ready":                       true,
		"syscall.Syscall os.unReadable main.work":                      false,
		"": false,
	} {
		var frames []model.Frame
		for f := range strings.FieldsSeq(stack) {
			frames = append(frames, model.Frame{Func: f})
		}
		if touches(frames) != want {
			t.Errorf("%s: %v", stack, !want)
		}
	}
}

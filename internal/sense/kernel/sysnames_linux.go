//go:build amd64 || arm64

package kernel

import (
	"fmt"
	"strings"
	"sync"
)

//go:generate go test -run TestSyscallNamesAreThoseOfSys . -update

// syscallNames are the system's calls by number.
var syscallNames = sync.OnceValue(func() map[int64]string {
	names := map[int64]string{}
	for line := range strings.Lines(syscallTable) {
		var number int64
		var name string
		if _, err := fmt.Sscan(line, &number, &name); err != nil {
			panic(err) // the table is a part of the program
		}
		names[number] = name
	}
	return names
})

func syscallName(number int64) string {
	if number == maxCall {
		return "other"
	}
	if name := syscallNames()[number]; name != "" {
		return name
	}
	return fmt.Sprintf("syscall %d", number)
}

package kernel

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A kernelTable is the functions of /proc/kallsyms, by address.
type kernelTable struct {
	addrs []uint64
	at    []uint32 // where the name is in names
	names []byte
}

// readKernel reads the text of /proc/kallsyms. The table is nil when all addresses
// in it are 0, which is how the kernel refuses.
func readKernel(kallsyms io.Reader) (*kernelTable, error) {
	t := &kernelTable{}
	shown := false
	in := bufio.NewScanner(kallsyms)
	for in.Scan() {
		addr, name, ok := parseSymbol(in.Bytes())
		if !ok || len(t.names) > maxKernelNames {
			continue
		}
		shown = shown || addr != 0
		t.addrs, t.at = append(t.addrs, addr), append(t.at, uint32(len(t.names)))
		t.names = append(append(t.names, name...), 0)
	}
	if err := in.Err(); err != nil || !shown {
		return nil, err
	}
	sort.Stable(t)
	return t, nil
}

// maxKernelNames is ten times what a kernel has with all of its modules.
const maxKernelNames = 64 << 20

func (t *kernelTable) Len() int           { return len(t.addrs) }
func (t *kernelTable) Less(i, j int) bool { return t.addrs[i] < t.addrs[j] }
func (t *kernelTable) Swap(i, j int) {
	t.addrs[i], t.addrs[j] = t.addrs[j], t.addrs[i]
	t.at[i], t.at[j] = t.at[j], t.at[i]
}

// name returns the function at an address, empty before the first. Of several names for
// one address that of a system call's entry is preferred, else the first.
func (t *kernelTable) name(pc uint64) string {
	n := len(t.addrs)
	if pc < math.MaxUint64 {
		n, _ = slices.BinarySearch(t.addrs, pc+1)
	}
	if n == 0 {
		return ""
	}
	first, _ := slices.BinarySearch(t.addrs, t.addrs[n-1])
	for i := first; i < n; i++ {
		if name := stringAt(t.names, t.at[i]); isEntry(name) {
			return name
		}
	}
	return stringAt(t.names, t.at[first])
}

func stringAt(b []byte, at uint32) string {
	n := bytes.IndexByte(b[at:], 0)
	return string(b[at : int(at)+n])
}

func (t *kernelTable) of(pcs []uint64) map[uint64]string {
	names := make(map[uint64]string, len(pcs))
	for _, pc := range pcs {
		if _, known := names[pc]; !known {
			names[pc] = t.name(pc)
		}
	}
	return names
}

// A keptTable is the kernel's functions as they were last read: who records one
// piece after the other does not read 5 MB of text for each, which takes 50 ms.
type keptTable struct {
	mu    sync.Mutex
	table *kernelTable
	read  time.Time
}

// keptFor is how long a table is good: modules are seldom loaded.
const keptFor = 10 * time.Minute

func (k *keptTable) of(open func() (io.ReadCloser, error), pcs []uint64) map[uint64]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.table == nil || time.Since(k.read) > keptFor {
		f, err := open()
		if err != nil {
			return nil
		}
		defer f.Close()
		if k.table, _ = readKernel(f); k.table == nil {
			return nil
		}
		k.read = time.Now()
	}
	return k.table.of(pcs)
}

// parseSymbol reads a line like "ffffffff81000000 T _text\t[module]", and
// takes only functions.
func parseSymbol(line []byte) (addr uint64, name []byte, ok bool) {
	number, rest, ok := bytes.Cut(line, []byte(" "))
	if !ok || len(rest) < 3 || rest[1] != ' ' || !strings.ContainsRune("tTwW", rune(rest[0])) {
		return 0, nil, false
	}
	addr, err := strconv.ParseUint(string(number), 16, 64)
	name, _, _ = bytes.Cut(rest[2:], []byte("\t"))
	return addr, name, err == nil && len(name) > 0 && bytes.IndexByte(name, 0) < 0
}

// entryPrefixes begin the names of the functions that a system call enters,
// with the call's name behind. The last stand for those that the compiler left
// out of the stack because they end in a call.
var entryPrefixes = []string{"__x64_sys_", "__arm64_sys_", "__ia32_sys_", "__se_sys_", "__do_sys_", "ksys_"}

func isEntry(name string) bool { return entryOf(name) != "" }

// entryOf returns the call that a kernel function is the entry of.
func entryOf(name string) string {
	for _, prefix := range entryPrefixes {
		if call, ok := strings.CutPrefix(name, prefix); ok {
			call, _, _ = strings.Cut(call, ".") // what the compiler added: .part.0, .isra.0
			if usual, ok := usualNames[call]; ok {
				return usual
			}
			return call
		}
	}
	return ""
}

// usualNames are the calls whose entry has another name than the call.
var usualNames = map[string]string{
	"newstat": "stat", "newlstat": "lstat", "newfstat": "fstat", "newuname": "uname",
	"sendfile64": "sendfile", "umount": "umount2", "mmap_pgoff": "mmap",
	"arm64_personality": "personality", "sysctl": "_sysctl",
}

// What a thread does in the kernel when it is in no system call.
const (
	inPageFault = "page fault"
	inInterrupt = "interrupt"
	// inEntry is the way into a call and out of it, with what watches calls.
	inEntry = "system call"
)

// inKernel tells from the names of the kernel's part of a stack, leaf first,
// what brought the thread there. The outermost entry decides: a page fault
// inside read belongs to read.
func inKernel(names []string) string {
	found := ""
	for _, name := range slices.Backward(names) {
		if call := entryOf(name); call != "" {
			return call
		}
		switch {
		case name == "asm_exc_page_fault", name == "exc_page_fault", name == "do_user_addr_fault",
			name == "do_mem_abort", name == "do_page_fault", name == "el0_da", name == "el0_ia":
			return inPageFault
		case strings.HasPrefix(name, "asm_sysvec_"), strings.HasPrefix(name, "sysvec_"),
			name == "asm_common_interrupt", name == "common_interrupt",
			strings.HasPrefix(name, "el0_irq"), strings.HasPrefix(name, "el0_interrupt"),
			strings.HasPrefix(name, "__el0_irq"), strings.HasPrefix(name, "el0t_64_irq"),
			strings.HasPrefix(name, "irqentry_"):
			if found == "" {
				return inInterrupt
			}
		case name == "do_syscall_64", name == "el0_svc", name == "do_el0_svc":
			found = inEntry
		}
	}
	return found
}

// isWatcherFrame tells the frames that watching itself puts on top of the kernel's part
// of a stack.
func isWatcherFrame(name string) bool {
	for _, prefix := range []string{"bpf_", "__bpf_", "__traceiter_", "perf_", "__perf_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

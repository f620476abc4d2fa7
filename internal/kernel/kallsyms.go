package kernel

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// nameKernel finds the names of kernel addresses in the text of
// /proc/kallsyms. It keeps no more than the addresses asked for: the text has
// 200,000 lines. It returns nil when all addresses in the text are 0, which is
// how the kernel refuses.
func nameKernel(kallsyms io.Reader, pcs []uint64) (map[uint64]string, error) {
	pcs = slices.Clone(pcs)
	slices.Sort(pcs)
	pcs = slices.Compact(pcs)
	type symbol struct {
		addr uint64
		name string
	}
	// best holds for each address the last symbol at or before it and behind
	// the address before.
	best := make([]symbol, len(pcs))
	shown := false
	in := bufio.NewScanner(kallsyms)
	for in.Scan() {
		addr, name, ok := parseSymbol(in.Text())
		if !ok {
			continue
		}
		shown = shown || addr != 0
		n, _ := slices.BinarySearch(pcs, addr)
		if n == len(pcs) {
			continue
		}
		if b := &best[n]; addr > b.addr || addr == b.addr && b.name != "" && !isEntry(b.name) && isEntry(name) {
			*b = symbol{addr, strings.Clone(name)}
		}
	}
	if err := in.Err(); err != nil || !shown {
		return nil, err
	}
	names := make(map[uint64]string, len(pcs))
	var last symbol
	for i, pc := range pcs {
		if best[i].name != "" {
			last = best[i]
		}
		names[pc] = last.name
	}
	return names, nil
}

// parseSymbol reads a line like "ffffffff81000000 T _text\t[module]", and
// takes only functions.
func parseSymbol(line string) (addr uint64, name string, ok bool) {
	number, rest, ok := strings.Cut(line, " ")
	if !ok || len(rest) < 3 || rest[1] != ' ' || !strings.ContainsRune("tTwW", rune(rest[0])) {
		return 0, "", false
	}
	addr, err := strconv.ParseUint(number, 16, 64)
	name, _, _ = strings.Cut(rest[2:], "\t")
	return addr, name, err == nil && name != ""
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

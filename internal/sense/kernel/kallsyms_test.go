package kernel

import (
	"io"
	"maps"
	"strings"
	"testing"
)

// nameKernel finds the names of kernel addresses; nil when the kernel refuses.
func nameKernel(kallsyms io.Reader, pcs []uint64) (map[uint64]string, error) {
	t, err := readKernel(kallsyms)
	if t == nil {
		return nil, err
	}
	return t.of(pcs), nil
}

const kallsymsText = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000100 t __do_sys_read
ffffffff81000100 T __x64_sys_read
ffffffff81000200 D data
ffffffff81000300 T vfs_read
ffffffffc0000000 t helper	[module]
ffffffff81000280 t late
`

func TestNameKernel(t *testing.T) {
	got, err := nameKernel(strings.NewReader(kallsymsText), []uint64{
		0xffffffff81000350, 0xffffffff81000000, 0xffffffff81000101, 0xffffffff81000250, 0xffffffff81000290, 0xffffffffc0000010, 0x1000, 0xffffffff81000101,
	})
	want := map[uint64]string{
		0x1000:             "",
		0xffffffff81000000: "_stext", 0xffffffff81000101: "__do_sys_read", 0xffffffff81000250: "__do_sys_read",
		0xffffffff81000290: "late", 0xffffffff81000350: "vfs_read", 0xffffffffc0000010: "helper",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("nameKernel() = %v, %v; want %v", got, err, want)
	}
	hidden := strings.ReplaceAll("ffffffff81000000 T _stext\n", "ffffffff81000000", "0000000000000000")
	if got, err := nameKernel(strings.NewReader(hidden), []uint64{1}); got != nil || err != nil {
		t.Errorf("nameKernel() of hidden addresses = %v, %v; want nil", got, err)
	}
}

func FuzzNameKernel(f *testing.F) {
	f.Add(kallsymsText, uint64(0xffffffff81000101), uint64(0x10))
	f.Fuzz(func(t *testing.T, text string, a, b uint64) {
		names, err := nameKernel(strings.NewReader(text), []uint64{a, b})
		if err == nil && names != nil && len(names) != len(map[uint64]bool{a: true, b: true}) {
			t.Errorf("nameKernel(%#x, %#x) = %v, want a name for each", a, b, names)
		}
	})
}

func TestInKernel(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"vfs_read ksys_read do_syscall_64 entry_SYSCALL_64_after_hwframe", "read"},
		{"clear_page exc_page_fault asm_exc_page_fault rep_movs vfs_read __x64_sys_pread64 do_syscall_64", "pread64"},
		{"clear_page exc_page_fault asm_exc_page_fault", "page fault"},
		{"schedule irqentry_exit_to_user_mode asm_sysvec_apic_timer_interrupt", "interrupt"},
		{"cp_new_stat __do_sys_newfstat __x64_sys_newfstat do_syscall_64", "fstat"},
		{"futex_wait do_futex __arm64_sys_futex invoke_syscall el0_svc el0t_64_sync", "futex"},
		{"do_syscall_64 entry_SYSCALL_64_after_hwframe", "system call"},
		{"sysvec_reschedule_ipi asm_sysvec_reschedule_ipi do_syscall_64", "system call"},
		{"handle_mm_fault do_page_fault do_mem_abort el0_da el0t_64_sync_handler", "page fault"},
		{"ret_from_fork", ""},
		{"", ""},
	} {
		if got := inKernel(strings.Fields(c.stack)); got != c.want {
			t.Errorf("inKernel(%s) = %q, want %q", c.stack, got, c.want)
		}
	}
}

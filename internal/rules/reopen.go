package rules

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/diagnosis"
	"github.com/gowhy/gowhy/internal/fact"
	"github.com/gowhy/gowhy/internal/model"
)

//go:embed reopen.md
var reopenPage string

var reopen = &diagnosis.Rule{
	Name:     "reopen",
	Title:    "Files are opened and closed for each reading",
	Doc:      reopenPage,
	Needs:    []model.Source{model.SyscallLog},
	Explains: []string{"syscallbound"},
	Check:    checkReopen,
}

const (
	// reopenRate is how many files a second must be opened. The process
	// monitor that the rule was made after opened 1,900; a server that serves
	// from memory opens none, one that starts opens some hundred once.
	reopenRate = 1000
	// reopenPerRead is how many opens there must be for each read: os.ReadFile
	// of a small file shows 0.5 (one read for the data, one for its end), a
	// program that reads what it opened, in pieces, far less.
	reopenPerRead = 0.3
	// reopenClosed is the part of the opened that must be closed again.
	// Otherwise they are kept, or leak.
	reopenClosed = 0.7
	// reopenRemoved is how many files may be deleted for each that is opened:
	// those were others each time. The worker pool of the case studies opens
	// each of its files twice and deletes it, 0.5; a monitor deletes none.
	reopenRemoved = 0.2
	// reopenShare is the part of the CPU that opening must take. os.ReadFile on
	// /proc showed 0.43; a backup that reads files of 256 KB, again and again,
	// 0.03, and keeping those open would bring no more.
	reopenShare = 0.1
)

// opening are the calls that come with opening and closing a file: in Go 1.26
// os.ReadFile makes an openat, an fstat, four fcntl, an epoll_ctl, two reads
// and a close, ten in all.
var opening = []string{"open", "openat", "openat2", "close", "fcntl", "newfstat", "fstat", "newfstatat", "epoll_ctl"}

func checkReopen(p *diagnosis.Pass) {
	s := p.Model.Syscalls
	good := func(names ...string) (n float64) {
		for _, name := range names {
			c := s.Call(name)
			n += float64(c.Count)
			for _, failed := range c.Errors {
				n -= float64(failed)
			}
		}
		return div(max(0, n), s.Window.Seconds())
	}
	opened, closed := good("open", "openat", "openat2"), good("close")
	read, removed := good("read", "pread64", "readv", "preadv"), good("unlink", "unlinkat")
	if opened < reopenRate || closed < reopenClosed*opened || opened < reopenPerRead*read {
		p.Fine(fmt.Sprintf("files: %s opened and %s read from a second", num(math.Round(opened)), num(math.Round(read))))
		return
	}
	if removed >= reopenRemoved*opened {
		p.Fine(fmt.Sprintf("files: %s opened a second and %s deleted: they are others each time", num(math.Round(opened)), num(math.Round(removed))))
		return
	}
	cores, share, samples := kernelCores(p.Model, inSyscall(opening...))
	f := reopenFinding(p, opened, closed, read, cores, share, samples > 0 && enoughKernelSamples(p.Model))
	if f.Bound.Share < reopenShare {
		p.Fine(fmt.Sprintf("files: %s opened a second, which is %s of the CPU at most", num(math.Round(opened)), pct(f.Bound.Share)))
		return
	}
	p.Report(f)
}

func reopenFinding(p *diagnosis.Pass, opened, closed, read, cores, share float64, sampled bool) diagnosis.Finding {
	extra := calls(p.Model.Syscalls, opening...)
	places, stacks, inside := openSites(p)
	how, sure := howCounted(p.Model.Syscalls)
	f := diagnosis.Finding{
		Summary: fmt.Sprintf("%s files a second are opened, read %s times each and closed again: %s system calls for each, beside the reads.",
			num(math.Round(opened)), num(read/opened), num(extra/opened)),
		Where: places,
		Evidence: []fact.Fact{
			{Name: "files opened", Value: opened, Unit: fact.PerSec, Source: "system calls counted by the kernel"},
			{Name: "closed", Value: closed, Unit: fact.PerSec, Source: "system calls counted by the kernel"},
			{Name: "reads", Value: read, Unit: fact.PerSec, Source: "system calls counted by the kernel"},
			{Name: "calls to open, prepare and close", Value: extra, Unit: fact.PerSec, Source: "system calls counted by the kernel: open, close, fcntl, fstat, epoll_ctl"},
		},
		Confidence: sure,
		Reasons:    []string{how + "; whether the same files are opened again is not, only the source tells"},
		RuledOut: []string{
			fmt.Sprintf("files that are read in many pieces: %s reads to an open", num(read/opened)),
			fmt.Sprintf("descriptors that are kept or leak: %s of the opened are closed", pct(min(1, closed/opened))),
			"opens that fail, as in a search for a file: only those that succeeded are counted",
		},
		Stacks: stacks,
		Remedy: diagnosis.Remedy{
			Text: "If these are the same files again and again, keep them open and read them with golang.org/x/sys/unix.Pread, one call instead of ten (os.File.ReadAt needs two: the second finds the end). Keep the number within the limit of open files: a monitor with two files for each of a thousand processes passes the usual 1,024. For files under /proc and /sys that cannot be kept, open, read and close with golang.org/x/sys/unix: three calls instead of ten, since these do not register with the poller. If every file is another one and read once, this is the work.",
			Code: "n, err := unix.Pread(fd, buf, 0) // fd opened once",
		},
		Experiment: changed(diagnosis.Syscalls, diagnosis.CPUPerOp, fmt.Sprintf("Each file takes %s calls now, with the reads; one that is kept open takes one. CPU time follows only as far as the kernel's own work for the file allows. Watch the number of open files.", num((extra+read)/opened))),
	}
	if sampled {
		f.Confidence = diagnosis.High
		f.Reasons = append(f.Reasons, "the kernel's samples show the time in these calls too")
		f.Evidence = append(f.Evidence, fact.Fact{Name: "CPU in them", Value: cores, Unit: fact.Cores, Source: "kernel samples"})
		f.Cost = diagnosis.Cost{Value: cores, Unit: fact.Cores, Share: share, What: "CPU inside the calls that open, prepare and close"}
		f.Bound = diagnosis.Bound{
			Value: cores, Unit: fact.Cores, Goal: diagnosis.CPUGoal, Share: share,
			Method:  "Amdahl: all of the CPU inside the calls that open, prepare and close, as if every file were open already; the reads stay, and what opening costs outside the kernel comes on top",
			Partial: true,
		}
		return f
	}
	f.Cost, f.Bound = callPrice(p, extra, inside)
	return f
}

// openSites are the lines that open files, found as those of traffic are.
func openSites(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack, inside time.Duration) {
	if p.Model.Sched != nil {
		return callSites(p, func(s model.Stack) bool { return slices.ContainsFunc(p.Model.Stacks.Frames(s), opens) })
	}
	return kernelSites(p, inSyscall("open", "openat", "openat2")), nil, 0
}

func opens(f model.Frame) bool {
	return strings.HasPrefix(f.Func, "syscall.Open") || strings.HasPrefix(f.Func, "syscall.openat") || strings.HasPrefix(f.Func, "golang.org/x/sys/unix.Open")
}

package rules

import (
	_ "embed"
	"slices"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
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
	// reopenRemoved is how many files may be deleted or renamed for each that is opened:
	// those were others each time. The worker pool of the case studies opens
	// each of its files twice and deletes it, 0.5, as does who writes a file and a sum of it and renames
	// it when it is whole; a monitor deletes none.
	reopenRemoved = 0.2
	// reopenStarted is how many processes may be started for each file that is opened:
	// os/exec opens three for one that inherits nothing, 0.33. A monitor starts none.
	reopenStarted = 0.2
	// reopenShare is the part of the CPU that opening must take. os.ReadFile on
	// /proc showed 0.43; a backup that reads files of 256 KB, again and again,
	// 0.03, and keeping those open would bring no more.
	reopenShare = 0.1
	// reopenLooks is how often a file is looked at by its name for each that is opened, at most, where that comes with opening it:
	// once before, and once again. Who resolves links asks about each part of a path, 18 times where that was seen, and who
	// searches about each place, 35 times.
	reopenLooks = 2
)

// lookCall looks at a file by its name.
const lookCall = "newfstatat"

var openCalls = []string{"open", "openat", "openat2"}

// opening are the calls that come with opening and closing a file: in Go 1.26
// os.ReadFile makes an openat, an fstat, four fcntl, an epoll_ctl, two reads
// and a close, ten in all.
var opening = []string{"open", "openat", "openat2", "close", "fcntl", "newfstat", "fstat", lookCall, "epoll_ctl"}

// A reopening is the files that are opened for each reading, a second.
type reopening struct {
	opened, closed, read, removed fact.Fact
	started                       fact.Fact // processes and threads
	extra                         fact.Fact // calls to open, prepare and close, failed ones included
	cpu                           cpu.CallUse
}

func checkReopen(p *diagnosis.Pass) {
	opening := opening
	if cpu.CallRate(p, "files looked at", "calls", lookCall).Value > reopenLooks*cpu.CallRate(p, "files opened", "good", openCalls...).Value {
		opening = slices.DeleteFunc(slices.Clone(opening), func(name string) bool { return name == lookCall })
	}
	r := reopening{
		opened:  cpu.CallRate(p, "files opened", "good", openCalls...),
		closed:  cpu.CallRate(p, "closed", "good", "close"),
		read:    cpu.CallRate(p, "reads", "good", "read", "pread64", "readv", "preadv"),
		removed: cpu.CallRate(p, "files deleted or renamed", "good", "unlink", "unlinkat", "rename", "renameat", "renameat2"),
		started: cpu.CallRate(p, "processes and threads started", "good", "clone", "clone3", "fork", "vfork"),
		extra:   cpu.CallRate(p, "calls to open, prepare and close", "calls", opening...),
		cpu:     cpu.CallUseOf(p, "CPU inside the calls that open, prepare and close", cpu.MatchCalls(opening...)),
	}
	opened := r.opened.Value
	if opened < reopenRate || r.closed.Value < reopenClosed*opened || opened < reopenPerRead*r.read.Value {
		p.Fine(fact.Sentence("files: %s opened and %s read from a second", r.opened.Number(), r.read.Number()))
		return
	}
	if r.removed.Value >= reopenRemoved*opened {
		p.Fine(fact.Sentence("files: %s opened a second and %s deleted or renamed: they are others each time", r.opened.Number(), r.removed.Number()))
		return
	}
	if r.started.Value >= reopenStarted*opened {
		p.Fine(fact.Sentence("files: %s opened a second, for the %s processes and threads that are started", r.opened.Number(), r.started.Number()))
		return
	}
	f := reopenFinding(p, &r)
	if f.Bound.Share < reopenShare {
		p.Fine(fact.Sentence("files: %s opened a second, which is %s of the CPU at most", r.opened.Number(),
			fact.Name(fact.Ratio.Format(f.Bound.Share))))
		return
	}
	p.Report(ofCommand(p, f, "each file may be another one, read once"))
}

func reopenFinding(p *diagnosis.Pass, r *reopening) diagnosis.Finding {
	reads := fact.Quotient.Of("reads of each file", fact.Count, r.read, r.opened)
	extra := fact.Quotient.Of("calls for each file, beside the reads", fact.Count, r.extra, r.opened)
	closed := fact.Fraction.Of("part of the opened that is closed", fact.Ratio, r.closed, r.opened)
	places, stacks, inside := openSites(p)
	how, confidence := cpu.CallCountMethod(p)
	f := diagnosis.Finding{
		Where:      places,
		Evidence:   []fact.Fact{r.opened, r.closed, r.read, r.removed, r.extra},
		Confidence: confidence,
		Reasons:    []string{how + "; whether the same files are opened again is not, only the source tells"},
		RuledOut: []string{
			fact.Sentence("files that are read in many pieces: %s reads to an open", reads),
			fact.Sentence("descriptors that are kept or leak: %s of the opened are closed", closed),
			"opens that fail, as in a search for a file: only those that succeeded are counted",
		},
		Stacks: stacks,
		Remedy: diagnosis.Remedy{
			Text: "If these are the same files again and again, keep them open and read them with " +
				"golang.org/x/sys/unix.Pread, " +
				"one call instead of ten (os.File.ReadAt needs two: the second finds the end). Keep the number " +
				"within the limit of open files: " +
				"a monitor with two files for each of a thousand processes passes the usual 1,024. " +
				"For files under /proc and /sys that cannot be kept, open, read and close with " +
				"golang.org/x/sys/unix: three calls instead of ten, " +
				"since these do not register with the poller. If every file is another one and read once, this is " +
				"the work.",
			Code: "n, err := unix.Pread(fd, buf, 0) // fd opened once",
		},
		Experiment: codeChange(diagnosis.Syscalls, diagnosis.CPUPerOp, fact.Sentence("Each file takes %s calls now, with the reads; "+
			"one that is kept open takes one. CPU time follows only as far as the kernel's own work for the file "+
			"allows. "+
			"Watch the number of open files.", fact.Sum.Of("calls for each file", fact.Count, extra, reads))),
	}
	f.Say("%s files a second are opened, read %s times each and closed again: %s system calls for each, beside the "+
		"reads.",
		r.opened.Number(), reads, extra)
	if !r.cpu.Enough {
		f.Cost, f.Bound = cpu.CallPrice(p, r.extra, inside)
		return f
	}
	f.Confidence = diagnosis.High
	f.Reasons = append(f.Reasons, "the kernel's samples show the time in these calls too")
	f.Evidence = append(f.Evidence, r.cpu.Cores)
	f.Cost = r.cpu.Cost()
	f.Bound = r.cpu.Bound("Amdahl, as if every file were open already; the reads stay, and what opening costs " +
		"outside the kernel comes on top")
	return f
}

// openSites returns the lines that open files.
func openSites(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack, inside fact.Fact) {
	return cpu.CallSites(p, func(s model.Stack) bool { return code.ContainsPrefix(p.Model.Stacks.Frames(s), openFunctions) }, cpu.MatchCalls(openCalls...))
}

var openFunctions = []string{"syscall.Open", "syscall.openat", "golang.org/x/sys/unix.Open"}

package record

import (
	"bufio"
	"errors"
	"os"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

// kernelHz is the rate of on-CPU samples for each CPU. A sample takes 15 µs on
// a virtual machine, nearly all of it the timer's interrupt: one that is thrown
// away costs the same. So this is 0.3% of a CPU, and a program that uses a
// twentieth of one gets 10 samples a second. It is prime: at a round rate the
// samples of a program that does things every 10 ms would all fall on the same
// thing, and so they would beside the runtime's profiler and the scheduler's
// tick.
const kernelHz = 199

// keepKernel writes the members that were asked for.
func (r *recorder) keepKernel(res *kernel.Result) {
	cpu, off := artifact.KernelProfiles(res)
	// What was refused may have been refused in part; without a sample it is
	// not known that nothing happened.
	if r.wants("kernel") && (len(cpu.Sample) > 0 || !r.refusedMember(recording.KernelMember)) {
		r.keep(recording.KernelMember, cpu, nil)
		r.keepTimes(res)
	}
	if r.wants("offcpu") && (len(off.Sample) > 0 || !r.refusedMember(recording.OffCPUMember)) {
		r.keep(recording.OffCPUMember, off, nil)
	}
	if r.wants("syscalls") && !r.refusedMember(recording.SyscallsMember) {
		if err := os.WriteFile(r.w.Path(recording.SyscallsMember), artifact.SyscallsJSON(res), 0o600); err != nil {
			r.refuse(recording.SyscallsMember, artifact.Refusal{Why: err.Error()})
		}
	}
}

// kernelMember returns the member that a refusal of package kernel is about.
func kernelMember(what string) string {
	switch what {
	case "cpu":
		return recording.KernelMember
	case "offcpu":
		return recording.OffCPUMember
	case "syscalls":
		return recording.SyscallsMember
	}
	return what
}

// keepTimes writes the member beside the profile that it is about.
func (r *recorder) keepTimes(res *kernel.Result) {
	if len(res.Moments) == 0 || !r.has(recording.KernelMember) {
		return
	}
	path := r.w.Path(recording.KernelTimesMember)
	err := func() error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		return errors.Join(artifact.WriteTimes(w, res, r.man.Clock[0]), w.Flush(), f.Close())
	}()
	if err != nil {
		os.Remove(path)
		r.refuse(recording.KernelTimesMember, artifact.Refusal{Why: err.Error()})
	}
}

package record

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

// perfHz is of both samplers, many times the recorder's own: at that one a
// second of CPU would tell shares no better than to a tenth.
const perfHz = 1999

// perf samples the same process for the same time, with a program of the
// kernel's own people. System calls are not counted meanwhile: what counting
// costs would be sampled, too.
func (a *accepted) perf(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	s := startSubject(t, a.plain, "files")
	calls, unnamed := []string{"pread64", "openat", "write", "close"}, "system call"
	ours, theirs := map[string][]float64{}, map[string][]float64{}
	for range 3 {
		o, p := sampleTwice(t, s.pid)
		for _, c := range append(calls, unnamed) {
			ours[c], theirs[c] = append(ours[c], o[c]), append(theirs[c], p[c])
		}
	}
	for _, c := range calls {
		o, p := median(ours[c]), median(theirs[c])
		t.Logf("%-8s %.3f of the CPU time, by perf %.3f", c, o, p)
		if p >= 0.1 && math.Abs(o/p-1) > 0.1 || p < 0.1 && math.Abs(o-p) > 0.03 {
			t.Errorf("%s has %.3f of the CPU time, want about %.3f as by perf: %v and %v", c, o, p, ours[c], theirs[c])
		}
	}
	if o := median(ours[unnamed]); o > 0.05 {
		t.Errorf("%.3f of the CPU time is in calls without a name, by perf %.3f", o, median(theirs[unnamed]))
	}
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// sampleTwice returns the shares of CPU time in the kernel by the name of what it does.
func sampleTwice(t *testing.T, pid int) (ours, perfs map[string]float64) {
	t.Helper()
	data := filepath.Join(t.TempDir(), "perf.data")
	session, err := kernel.Start(kernel.Options{PID: pid, Hz: perfHz})
	if err != nil {
		t.Skip(err)
	}
	said, err := exec.Command("perf", "record", "-e", "cpu-clock", "-F", strconv.Itoa(perfHz), "-g", "-p", strconv.Itoa(pid), "-o", data, "--", "sleep", "1.5").CombinedOutput()
	res, serr := session.Stop()
	if err != nil {
		t.Skipf("perf record: %v\n%s", err, said)
	}
	if serr != nil {
		t.Fatal(serr)
	}
	if res.UserOnly {
		t.Skip("the kernel's own samples are not permitted here")
	}
	cpu, _ := artifact.KernelProfiles(res)
	var b bytes.Buffer
	if err := cpu.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), recording.KernelMember)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	ours = map[string]float64{}
	account := load(t, evidence.Options{}, path).CPUAccount()
	for _, n := range account.KernelCalls() {
		ours[n.Name] = n.Time.Seconds() / account.Total.Seconds()
	}
	text, err := exec.Command("perf", "script", "-i", data, "-F", "comm,ip,sym").Output()
	if err != nil {
		t.Fatal(err)
	}
	perfs, samples := perfShares(text)
	if least := int64(perfHz * time.Second.Seconds() / 2); account.Samples < least || samples < least {
		t.Fatalf("%d samples, perf has %d; want %d or more of each", account.Samples, samples, least)
	}
	return ours, perfs
}

// perfShares names what the samples of perf script do in the kernel, as its
// reader would: by the function of the call, and on the way to and from it by the
// program's function that makes it.
func perfShares(text []byte) (shares map[string]float64, samples int64) {
	counts := map[string]int64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	var name, wrapper string
	inKernel := false
	end := func() {
		switch {
		case name != "":
			counts[name]++
		case inKernel && wrapper != "":
			counts[wrapper]++
		case inKernel:
			counts["system call"]++
		}
		name, wrapper, inKernel = "", "", false
	}
	for lines.Scan() {
		address, symbol, frame := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if !strings.HasPrefix(lines.Text(), "\t") {
			if address != "" { // the name of a thread begins a sample
				end()
				samples++
			}
			continue
		}
		pc, err := strconv.ParseUint(address, 16, 64)
		if err != nil || !frame {
			continue
		}
		inKernel = inKernel || pc>>63 == 1
		for _, prefix := range []string{"__x64_sys_", "__arm64_sys_"} {
			if call, ok := strings.CutPrefix(symbol, prefix); ok {
				name = call
			}
		}
		if wrapper == "" {
			wrapper = map[string]string{"syscall.pread": "pread64", "syscall.write": "write", "syscall.openat": "openat", "syscall.Close": "close"}[symbol]
		}
	}
	end()
	shares = map[string]float64{}
	for name, n := range counts {
		shares[name] = float64(n) / float64(samples)
	}
	return shares, samples
}

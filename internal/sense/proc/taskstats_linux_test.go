package proc

import (
	"encoding/binary"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel's own sums against a walk through the threads. It counts those that
// have ended too, and other tests end some: this one has a process to itself.
func TestTaskstats(t *testing.T) {
	const alone = "GOWHY_TEST_ALONE"
	if os.Getenv(alone) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestTaskstats$", "-test.v")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("the test alone: %v, want nil\n%s", err, out)
		}
		return
	}
	p, err := Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.switches.stats == nil {
		t.Skip("not permitted")
	}
	defer p.borrow()()
	before, ok := p.switches.stats.read()
	p.switches.sum()
	walked := p.switches.last
	after, ok2 := p.switches.stats.read()
	if !ok || !ok2 {
		t.Fatal("no answer")
	}
	if walked.voluntary < before.voluntary || walked.voluntary > after.voluntary || walked.involuntary > after.involuntary || walked.runQueue > after.runQueue+time.Millisecond || walked.slices > after.slices || after.slices == 0 {
		t.Errorf("walked %+v, want between taskstats %+v and %+v", walked, before, after)
	}
}

// Attributes begin at multiples of four, whatever the length of those before.
func TestAttribute(t *testing.T) {
	e := binary.NativeEndian
	b := append(e.AppendUint16(e.AppendUint16(nil, 5), 1), 'a', 0, 0, 0)
	b = append(e.AppendUint16(e.AppendUint16(b, 6), 2|unix.NLA_F_NESTED), 'b', 'c')
	for typ, want := range map[uint16]string{1: "a", 2: "bc", 3: ""} {
		if got := attribute(b, typ); string(got) != want {
			t.Errorf("attribute(%d) = %q, want %q", typ, got, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	t := &netlink{}
	f.Add(t.message(7, 1, 2, []byte{1, 2, 3, 4}), uint16(7))
	nested := binary.NativeEndian.AppendUint16(nil, 400)
	nested = append(binary.NativeEndian.AppendUint16(nested, unix.TASKSTATS_TYPE_AGGR_TGID), make([]byte, 396)...)
	f.Add(t.message(9, 1, 5, nested), uint16(9))
	f.Fuzz(func(t *testing.T, b []byte, family uint16) {
		body, _, ok := parseAnswer(b, family)
		if !ok {
			return
		}
		inner := attribute(body, unix.TASKSTATS_TYPE_AGGR_TGID)
		if c, ok := parseTaskstats(attribute(inner, unix.TASKSTATS_TYPE_STATS)); ok && (c.voluntary < 0 || c.runQueue < 0) {
			t.Errorf("parseTaskstats() = %+v, want nothing below 0", c)
		}
	})
}

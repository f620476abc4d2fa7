package runner

import (
	"testing"

	"clusterjobs/internal/job"
	"clusterjobs/internal/lifecycle"
)

func TestRun(t *testing.T) {
	var digests []uint32
	for _, h := range []Hook{NodeHook, JobHook} {
		n := lifecycle.NewNode()
		r, err := New(n, 3, h)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 12 {
			r.Submit(job.Sample(i))
		}
		r.Wait()
		if r.Done() != 12 {
			t.Errorf("%s: %d done, want 12", h, r.Done())
		}
		digests = append(digests, r.Digest())
		n.Drain()
		r.Submit(job.Sample(99))
		r.Wait()
		if r.Done() != 12 {
			t.Errorf("%s: a drained node did a job", h)
		}
	}
	if digests[0] != digests[1] {
		t.Errorf("digests are %x and %x", digests[0], digests[1])
	}
}

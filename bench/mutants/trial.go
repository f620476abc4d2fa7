package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// An outcome is what the tests made of a mutant.
type outcome string

const (
	killed   outcome = "killed"
	hung     outcome = "hung" // ended after the timeout, which counts as noticed
	survived outcome = "survived"
)

// A trial is how the tests meet the mutants.
type trial struct {
	first, tests, skip string
	parallel           int
	timeout            time.Duration
}

// withoutMutant is how long the tests may take that meet none.
const withoutMutant = 5 * time.Minute

// A suite is the compiled tests of a package.
type suite struct{ dir, binary string }

// suites compiles the tests of packages with all mutants in them, and checks that they pass while
// none is on.
func (t *trial) suites(ctx context.Context, packages []*source, all []*mutant, dir string) (list []suite, err error) {
	file, err := overlay(packages, all, dir)
	if err != nil {
		return nil, err
	}
	for i, p := range packages {
		s := suite{p.dir, filepath.Join(dir, fmt.Sprint(i, "_tests"))}
		if err := p.build(ctx, file, s.binary); err != nil {
			return nil, fmt.Errorf("the copy with the mutants: %w", err)
		}
		began, patient := time.Now(), *t
		patient.timeout = withoutMutant
		result, output, err := patient.test(ctx, s, 0, t.tests)
		if err == nil && result != survived {
			err = fmt.Errorf("the tests without a mutant: %s\n%s\nhint: go test -short %s", result, output, p.path)
		}
		if err != nil {
			return nil, err
		}
		// Who notices nothing takes as long, and twice that beside another: it is no endless loop.
		t.timeout = max(t.timeout, 3*time.Since(began))
		list = append(list, s)
	}
	return list, nil
}

// run compiles all mutants of packages and gives those chosen their outcomes.
func (t *trial) run(ctx context.Context, packages []*source, all, chosen []*mutant) error {
	dir, err := os.MkdirTemp("", "gowhy-mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	suites, err := t.suites(ctx, packages, all, dir)
	if err != nil {
		return err
	}
	own := map[*source]suite{}
	for i, p := range packages {
		own[p] = suites[i]
	}
	var (
		wg     sync.WaitGroup
		queue  = make(chan *mutant)
		mu     sync.Mutex
		failed error
	)
	for range t.parallel {
		wg.Go(func() {
			for m := range queue {
				if err := t.try(ctx, own[m.edits[0].in], suites[len(suites)-1], m); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, m := range chosen {
		if ctx.Err() == nil {
			queue <- m
		}
	}
	close(queue)
	wg.Wait()
	return errors.Join(ctx.Err(), failed)
}

// try runs the tests of the mutated file first: most mutants end there, in a
// tenth of the time. What other packages use is tested by those of its own package and the last.
func (t *trial) try(ctx context.Context, own, last suite, m *mutant) (err error) {
	if own != last {
		if m.Outcome, _, err = t.test(ctx, own, m.id, t.tests); err != nil || m.Outcome != survived {
			return err
		}
	}
	for _, tests := range []string{strings.ReplaceAll(t.first, "FILE", strings.TrimSuffix(m.File, ".go")), t.tests} {
		if m.Outcome, _, err = t.test(ctx, last, m.id, tests); err != nil || m.Outcome != survived {
			return err
		}
	}
	return nil
}

// test runs tests with a mutant, 0 for none. When the time is over and the
// tests had little of a CPU, others had it: they get more time, twice.
func (t *trial) test(ctx context.Context, s suite, mutant int, tests string) (result outcome, output []byte, err error) {
	for _, timeout := range []time.Duration{t.timeout, 3 * t.timeout, 9 * t.timeout} {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		cmd := exec.CommandContext(limited, s.binary, "-test.short", "-test.failfast", "-test.run="+tests, "-test.skip="+t.skip)
		cmd.Dir, cmd.Env = s.dir, append(os.Environ(), variable+"="+strconv.Itoa(mutant))
		output, err = cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return survived, output, nil
		case ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded):
			continue // others had the machine before the tests began
		case !errors.As(err, &exit) || ctx.Err() != nil:
			return "", output, err
		case limited.Err() == nil:
			return killed, output, nil
		case exit.UserTime() > t.timeout/2:
			return hung, output, nil
		}
	}
	return hung, output, nil
}

// command runs a tool and returns what it wrote; what it complained of is in
// the error.
func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	var complaint strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, strings.TrimSpace(complaint.String()))
	}
	return out, nil
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/gowhy/gowhy/bench/gen"
)

// A spec is a trace that can be made.
type spec struct {
	kind gen.Kind
	mb   int64 // 0 for a kind that has an end of its own
}

func (s spec) name() string {
	if s.kind.Fixed {
		return s.kind.Name
	}
	return s.kind.Name + "-" + strconv.FormatInt(s.mb, 10)
}

// usual are the sizes, in MB, that are measured unless others are asked for.
// Kinds whose programs take long to write much, and those that show nothing
// new when larger, have fewer.
var usual = map[string][]int64{
	"channels":   {20, 100, 400},
	"http":       {20, 100, 400},
	"spawn":      {20, 100, 400},
	"pool":       {0},
	"gc":         {20, 100},
	"files":      {20},
	"tasks":      {20},
	"coroutines": {20},
	"ms64":       {20, 100},
	"ms256":      {20, 100, 400},
	"ms1024":     {20, 100},
}

// largeMB is the size of the one trace of which absolute times are asked.
const largeMB = 1000

// choose lists the traces that the options ask for.
func choose(o options) ([]spec, error) {
	sizes, err := megabytes(o.sizes)
	if err != nil {
		return nil, err
	}
	kinds := split(o.kinds)
	for _, k := range kinds {
		if _, ok := gen.Find(k); !ok {
			return nil, fmt.Errorf("there is no kind %q; see -list", k)
		}
	}
	var specs []spec
	for _, k := range gen.Kinds {
		if len(kinds) > 0 && !slices.Contains(kinds, k.Name) {
			continue
		}
		of := usual[k.Name]
		if len(sizes) > 0 && !k.Fixed {
			of = sizes
		}
		for _, mb := range of {
			specs = append(specs, spec{k, mb})
		}
	}
	if o.large {
		k, _ := gen.Find("channels")
		if l := (spec{k, largeMB}); !slices.ContainsFunc(specs, func(s spec) bool { return s.name() == l.name() }) {
			specs = append(specs, l)
		}
	}
	return specs, nil
}

func list(w io.Writer) error {
	fmt.Fprintln(w, "kinds of trace, with the usual sizes in MB:")
	for _, k := range gen.Kinds {
		sizes := fmt.Sprint(usual[k.Name])
		if k.Fixed {
			sizes = "fixed"
		}
		fmt.Fprintf(w, "  %-11s %-13s %s\n", k.Name, sizes, k.Doc)
	}
	fmt.Fprintln(w, "contenders:")
	for _, c := range catalogue {
		fmt.Fprintf(w, "  %-11s %s\n", c.name, c.doc)
	}
	return nil
}

// A trace is one that has been made.
type trace struct {
	spec
	path  string
	bytes int64
}

// prepare makes the traces that are not kept yet, and reads each once so that
// the first contender does not pay for the disk.
func prepare(ctx context.Context, dir string, specs []spec, progress io.Writer) ([]trace, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("%w; choose a directory with -dir", err)
		}
		dir = filepath.Join(cache, "gowhy-bench")
	}
	// Another toolchain's programs write another trace.
	dir = filepath.Join(dir, fmt.Sprintf("%s-%d", runtime.Version(), gen.Revision))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var traces []trace
	for _, s := range specs {
		path := filepath.Join(dir, s.name()+".trace")
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
			if err := generate(ctx, s, path, progress); err != nil {
				return nil, fmt.Errorf("making %s: %w", s.name(), err)
			}
		}
		n, err := warm(path)
		if err != nil {
			return nil, err
		}
		traces = append(traces, trace{s, path, n})
	}
	return traces, nil
}

// generate lets a process of its own write the trace, as the tracer and the
// collector's settings belong to a whole process.
func generate(ctx context.Context, s spec, path string, progress io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	begin := time.Now()
	part := path + ".part"
	defer os.Remove(part)
	cmd := exec.CommandContext(ctx, self, "-generate", s.kind.Name, "-size", strconv.FormatInt(s.mb*1e6, 10), part)
	cmd.Env = cleanEnv()
	cmd.Stderr = progress
	if err := cmd.Run(); err != nil {
		return err
	}
	fmt.Fprintf(progress, "made %s in %v\n", s.name(), time.Since(begin).Round(time.Second/10))
	return os.Rename(part, path)
}

// writeTrace returns the process that generate starts.
func writeTrace(kind string, size int64, path string) error {
	k, ok := gen.Find(kind)
	if !ok {
		return fmt.Errorf("there is no kind %q", kind)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(k.Write(w, size), w.Flush(), f.Close())
}

func warm(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.Copy(io.Discard, f)
}

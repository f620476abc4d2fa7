// Pairs measures and records the specimens in its testdata: released versions of modules
// before and after a repair, illnesses that reviewers complain of, and healthy
// programs.
//
//	go run ./lab/field/pairs                  what there is
//	go run ./lab/field/pairs -measure NAME…   whether the sides of these differ
//	go run ./lab/field/pairs -record NAME…    what gowhy says of each side
//	go run ./lab/field/pairs -commands NAME…  how each side is run, for other tools
//
// Drivers are built once into a folder of the user's cache; the modules come from
// where Go gets modules. It hides how a side is measured; what is true of a specimen
// and how an answer is judged is in lab/internal/specimen.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gowhy/gowhy/lab/internal/specimen"
	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// options are the flags.
type options struct {
	measure, record bool
	commands        bool
	keep            string
	rounds          int
}

func main() {
	var o options
	flag.BoolVar(&o.measure, "measure", false, "run each side and compare what it used")
	flag.BoolVar(&o.record, "record", false, "record each side, and print what gowhy says and whether it is right")
	flag.BoolVar(&o.commands, "commands", false, "build each side and print how it is run, a line of JSON for each")
	flag.StringVar(&o.keep, "keep", "", "keep the recordings in this `DIRECTORY`")
	flag.IntVar(&o.rounds, "runs", 3, "how `often` each side is measured")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := o.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context, names []string) error {
	root, err := testbed.Checkout()
	if err != nil {
		return err
	}
	all, faults := specimen.ReadAll(filepath.Join(root, "lab", "field", "pairs", "testdata"))
	if !o.measure && !o.record && !o.commands {
		list(all)
		return faults
	}
	chosen, err := choose(all, names)
	if err != nil {
		return errors.Join(err, faults)
	}
	bed, err := testbed.New("")
	if err != nil {
		return err
	}
	defer bed.Close()
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	cache = filepath.Join(cache, "gowhy-field", "pairs")
	var failed error
	for _, s := range chosen {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if o.commands {
			failed = errors.Join(failed, commands(ctx, os.Stdout, s, cache))
			continue
		}
		fmt.Printf("%s: %s\n", s.Name, s.About)
		if o.measure {
			failed = errors.Join(failed, measure(ctx, bed, s, cache, o.rounds))
		}
		if o.record {
			failed = errors.Join(failed, o.recordAll(ctx, bed, s, cache))
		}
	}
	return failed
}

// A command is how a side is run, with the placeholders of specimen.yaml.
type command struct {
	Specimen string   `json:"specimen"`
	Side     string   `json:"side"`
	Program  string   `json:"program"`
	Args     []string `json:"args,omitempty"`
	Seconds  float64  `json:"seconds,omitempty"` // that it is run for; 0 is to its end
	Ready    string   `json:"ready,omitempty"`   // what the line begins with after which load is offered
	Load     []string `json:"load,omitempty"`
}

// commands builds the sides of a specimen and prints how they are run.
func commands(ctx context.Context, w io.Writer, s *specimen.Specimen, cache string) error {
	for _, side := range s.Sides() {
		program, err := s.Build(ctx, cache, side.Name)
		if err != nil {
			return err
		}
		job := s.Job(side, program, "")
		line, err := json.Marshal(command{s.Name, side.Name, job.Program, job.Args, job.Time.Seconds(), job.Ready, job.Load})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// list prints what there is.
func list(all []*specimen.Specimen) {
	for _, s := range all {
		differs := ""
		if s.Differs != nil {
			differs = fmt.Sprintf("%s ×%.3g", s.Differs.Metric, s.Differs.Ratio)
		}
		fmt.Printf("%-8s %-24s %-8s %-14s %-18s %s\n", s.Kind, s.Name, s.Half(), s.Class, differs, s.About)
	}
}

// choose finds specimens by name; none is all.
func choose(all []*specimen.Specimen, names []string) (chosen []*specimen.Specimen, err error) {
	for _, name := range names {
		i := slices.IndexFunc(all, func(s *specimen.Specimen) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no specimen %q, or it cannot be read", name)
		}
		chosen = append(chosen, all[i])
	}
	if len(chosen) == 0 {
		chosen = all
	}
	return chosen, nil
}

// recordAll records all sides and prints what is said of them.
func (o *options) recordAll(ctx context.Context, bed *testbed.Bed, s *specimen.Specimen, cache string) error {
	keep := cmp.Or(o.keep, bed.Dir())
	if err := os.MkdirAll(keep, 0o755); err != nil {
		return err
	}
	var failed error
	for _, side := range s.Sides() {
		a, err := s.Ask(ctx, bed, cache, side, filepath.Join(keep, s.Name+"-"+side.Name+".gowhy"), nil)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s, %s: %w", s.Name, side.Name, err))
			continue
		}
		j := s.Judge(a)
		fmt.Printf("  %-6s %s", side.Name, a.Verdict)
		switch {
		case side.Name == "sick" && j.Rank == 0:
			fmt.Print("; MISSED")
		case side.Name == "sick":
			fmt.Printf("; right in place %d", j.Rank)
		}
		if j.Named {
			fmt.Print("; NAMED")
		}
		if len(j.False) > 0 {
			fmt.Printf("; FALSE: %s", strings.Join(j.False, ", "))
		}
		fmt.Println()
		for _, f := range a.Findings {
			fmt.Printf("         %s (%s): %s\n", f.Rule, f.Confidence, strings.Join(f.Where, ", "))
		}
	}
	return failed
}

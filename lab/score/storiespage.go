package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// wantStories is the share of runs of each size and server in which the truth is to be told.
const wantStories = 0.90

// storiesPage writes STORIES.md and says what is in it.
func (o *options) storiesPage(s *Stories, cases []*truth.Case) error {
	rows := storyRows(s, cases)
	f, err := os.Create(o.out)
	if err != nil {
		return err
	}
	if err := errors.Join(writeStories(f, s, rows), f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(o.say, "wrote %s\n", o.out)
	for i := range rows {
		r := &rows[i]
		mark := "reached"
		if r.all.Rate() < wantStories {
			mark = "MISSED "
		}
		fmt.Fprintf(o.say, "  %s  %s: right in %s\n", mark, strings.Join([]string{r.of, r.ill.Name, r.size, r.serverName()}, ", "), fraction(r.all))
		for _, w := range r.wrong {
			fmt.Fprintf(o.say, "    wrong: %s\n", printable(w))
		}
	}
	return nil
}

// busy is in how many runs gowhy said that others had the machine.
func (s *Stories) busy() (out Share) {
	for i := range s.Runs {
		out.add(busy(s.Runs[i].Findings))
	}
	return out
}

func (r *storyRow) serverName() string { return cmp.Or(r.server, "its own") }

// writeStories writes STORIES.md: the same bytes for the same answers and truth.
func writeStories(out io.Writer, s *Stories, rows []storyRow) error {
	p := &page{}
	p.line("# The case studies at several sizes")
	p.line("")
	p.line("What gowhy says of the five case studies with other amounts of work than usual, and on real")
	p.line("servers (`lab/up`), sick and healed, with nothing beside them and beside a load that")
	p.line("takes half of the machine. Made by `go run ./lab/score -stories` from `lab/stories.json`, not")
	p.line("by hand. A sick run is right when the first finding is the cause and names a guilty")
	p.line("function, a healed one when no finding accuses the program (`truth.yaml`). Where gowhy says")
	p.line("that others had the machine, requests that fail and overload are not held against it.")
	p.line("")
	p.storyBars(rows)
	t := s.Taken
	p.line("%s, commit %s, %s, %d cores of %s, %s; %.1f min.", safe(t.Date), code(t.Commit), safe(t.Go), t.Cores, safe(t.CPU), safe(t.Kernel), t.TookMins)
	for _, a := range s.Anew {
		p.line("All of %s was made anew, %d times, on %s, commit %s; %.1f min.", code(a.Cases), a.Rounds, safe(a.Date), code(a.Commit), a.TookMins)
	}
	p.line("In %s of all runs gowhy said that others had the machine, beside a load or not.", fraction(s.busy()))
	p.line("")
	var cells [][]string
	for i := range rows {
		r := &rows[i]
		mark := "yes"
		if r.all.Rate() < wantStories {
			mark = "**no**"
		}
		cells = append(cells, []string{code(r.of), safe(r.ill.Name), safe(r.size), safe(r.serverName()),
			fraction(r.sick[0]), fraction(r.sick[1]), fraction(r.healed[0]), fraction(r.healed[1]), mark})
	}
	p.table(4, []string{"case", "illness", "size", "server", "sick", "sick, beside a load", "healed", "healed, beside a load", fmt.Sprintf("≥ %s", percent(wantStories))}, cells)
	p.line("## What is wrong")
	p.line("")
	wrong := false
	for i := range rows {
		for _, w := range rows[i].wrong {
			wrong = true
			p.line("- %s", safe(w))
		}
	}
	if !wrong {
		p.line("Nothing.")
	}
	_, err := io.WriteString(out, strings.TrimRight(strings.ReplaceAll(p.String(), "\n\n\n", "\n\n"), "\n")+"\n")
	return err
}

// storyBars is the head: all runs together, and how many rows reach the bar.
func (p *page) storyBars(rows []storyRow) {
	var quiet, loaded, reached Share
	for i := range rows {
		quiet.plus(rows[i].quiet)
		loaded.plus(rows[i].loaded)
		reached.add(rows[i].all.Rate() >= wantStories)
	}
	p.table(1, []string{"what", "reached"}, [][]string{
		{"right, with nothing beside", share(quiet)},
		{"right, beside a load", share(loaded)},
		{fmt.Sprintf("sizes and servers with at least %s", percent(wantStories)), fraction(reached)},
	})
}

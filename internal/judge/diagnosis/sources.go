package diagnosis

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
)

// HowToGet returns a command that records a source of the program at hand: of the server or
// by the command line that was recorded. Where neither is known, it is the help.
func (p *Pass) HowToGet(s model.Source) string { return HowToGet(&p.Model.Run, s) }

// RecordAgain returns the command that records the program at hand for some seconds into
// a file, or the help where nothing tells what it is.
func (p *Pass) RecordAgain(seconds int, out string) string {
	return recordAgain(&p.Model.Run, seconds, out)
}

// CountRounds returns the command that counts the rounds of hot loops, or "" where the
// evidence tells neither a command that ends by itself nor a server with its load.
func (p *Pass) CountRounds() string {
	files, ok := pasteableFiles(&p.Model.Run)
	switch {
	case !ok || len(p.Model.Run.Command) == 0 || len(p.Model.Run.Files) != 1:
		return ""
	case !Serves(p.Model):
		return "gowhy count " + files
	}
	load := p.SteadyLoad("5s")
	if strings.HasSuffix(load, " --help") {
		return ""
	}
	return "gowhy count " + files + " --load " + shell.Word(load) + " --ready " + shell.Word(p.Model.Load.URL)
}

// SteadyLoad returns the command for a load at the rate that there was, for so long, or the
// help where nothing tells what it asked for.
func (p *Pass) SteadyLoad(length string) string {
	l := p.Model.Load
	if l == nil || l.URL == "" || shown(l.URL, "") == "" {
		return "gowhy load --help"
	}
	rate := cmp.Or(l.Offered, l.Rate)
	return fmt.Sprintf("gowhy load %s --rate %.0f -d %s", shell.Word(l.URL), max(1, rate), length)
}

// HowToGet returns a command that records a source of the program of a run, as
// [Pass.HowToGet] does.
func HowToGet(run *model.Run, s model.Source) string {
	record := recordAgain(run, 10, "again.gowhy")
	server := serverOf(run)
	switch {
	case s == model.Heap && server != "":
		return "curl -o allocs.pprof " + shell.Word(server+"/debug/pprof/allocs")
	case s == model.Wall && server != "":
		return "curl -o wall.pprof " + shell.Word(server+"/debug/fgprof?seconds=10") + "   # served by github.com/felixge/fgprof"
	case s == model.Printed && server != "":
		return "go tool pprof -top -cum " + shell.Word(server+"/debug/pprof/profile") + " > cpu.txt; gowhy diagnose cpu.txt"
	case s == model.ProcFS && server != "":
		return record + "   # on its machine"
	case s == model.Holders:
		return strings.Replace(recordAgain(run, 60, "again.gowhy"), "gowhy record", "gowhy record --holders", 1)
	case s == model.Leak: // the runtime has it when it was built for it
		return "GOEXPERIMENT=goroutineleakprofile go build && " + record
	case s == model.LoadResult:
		return "gowhy load --help   # or k6, vegeta, wrk, hey, dnsperf or go test -bench: give gowhy the output beside the recording"
	case s == model.Escape:
		escape := "go build -gcflags=-m=2 ./... 2> escape.txt; gowhy diagnose "
		if files, ok := pasteableFiles(run); ok {
			escape += files + " "
		}
		return escape + "escape.txt"
	}
	switch by := s.By(); {
	case by == model.ByKernel:
		return "gowhy doctor && " + record
	case by == model.ByAgent, by == model.ByProgram && run.Untold: // the same command brings the same once more
		return byAgent + record
	}
	return record // a recording holds them all, taken at the same time
}

// byAgent begins what a program needs that tells nothing of itself.
const byAgent = "go get github.com/gowhy/gowhy/agent   # import it, then: "

func recordAgain(run *model.Run, seconds int, out string) string {
	record := fmt.Sprintf("gowhy record -d %ds -o %s ", seconds, out)
	w := proofWriter{m: &model.Model{Run: *run}}
	switch server := serverOf(run); {
	case server != "":
		return record + "--url " + shell.Word(server)
	case w.known():
		return record + "-- " + w.command()
	}
	return "gowhy record --help"
}

// serverOf returns where the program was recorded, without the path of its profiles; empty when
// it was not, or when nobody can paste it.
func serverOf(run *model.Run) string {
	server := strings.TrimSuffix(strings.TrimSuffix(run.URL, "/"), "/debug/pprof")
	if shown(server, "") == "" {
		return ""
	}
	return server
}

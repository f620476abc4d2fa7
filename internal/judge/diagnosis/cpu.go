package diagnosis

import (
	"github.com/gowhy/gowhy/internal/know/model"
)

// A CPU is where the process's CPU time went. The parts add up to TotalNS.
type CPU struct {
	WindowNS int64   `json:"window_ns"` // over which it was measured; 0 when unknown
	TotalNS  int64   `json:"total_ns"`
	Cores    float64 `json:"cores"` // TotalNS by WindowNS
	// UserNS and SystemNS are what the process's own counters (rusage) say.
	// Counted is false when they were not had: TotalNS is then what was sampled.
	UserNS   int64     `json:"user_ns"`
	SystemNS int64     `json:"system_ns"`
	Counted  bool      `json:"counted"`
	Parts    []CPUPart `json:"parts"`
	Source   string    `json:"source,omitempty"` // the samples that the parts are from
	Why      string    `json:"why,omitempty"`    // why that source, and why it saw less than all
	// Coverage is what each source sampled by what the counters say; empty
	// when not Counted.
	Coverage map[string]float64 `json:"coverage,omitempty"`
	// Scale is what samples were multiplied with because they exceeded the
	// counters; 1 when they did not.
	Scale float64 `json:"scale"`
}

// A CPUPart is one part of the CPU time, with pieces of it by name.
type CPUPart struct {
	Name  string    `json:"name"`
	NS    int64     `json:"ns"`
	Share float64   `json:"share"` // of the whole CPU time
	By    []CPUPart `json:"by,omitempty"`
}

// piecesKept is how many system calls of a part a diagnosis keeps; the ledger
// has all of them.
const piecesKept = 6

func cpuOf(m *model.Model) *CPU {
	a := m.CPUAccount()
	if a == nil || a.Total <= 0 {
		return nil
	}
	c := &CPU{
		WindowNS: int64(a.Window), TotalNS: int64(a.Total), Cores: a.Cores(),
		UserNS: int64(a.User), SystemNS: int64(a.System), Counted: a.Known,
		Source: string(a.Believed), Why: a.Why, Scale: a.Scale,
	}
	for s, v := range a.Coverage {
		if c.Coverage == nil {
			c.Coverage = map[string]float64{}
		}
		c.Coverage[string(s)] = v
	}
	total := a.Total.Seconds()
	for _, e := range a.Parts {
		p := CPUPart{Name: string(e.Part), NS: int64(e.Time), Share: ratio(e.Time.Seconds(), total)}
		for _, n := range e.By[:min(len(e.By), piecesKept)] {
			p.By = append(p.By, CPUPart{Name: n.Name, NS: int64(n.Time), Share: ratio(n.Time.Seconds(), total)})
		}
		c.Parts = append(c.Parts, p)
	}
	return c
}

// A Recording is what the recording itself took.
type Recording struct {
	RecorderNS int64 `json:"recorder_cpu_ns"` // CPU time of the recorder
	// TargetCores is the program's CPU use while it was recorded, and
	// BeforeCores just before; null when not measured. Load may have changed
	// between them as well.
	TargetCores *float64 `json:"target_cores"`
	BeforeCores *float64 `json:"target_cores_before"`
}

func recordingOf(m *model.Model) *Recording {
	o := m.Run.Overhead
	if o == nil {
		return nil
	}
	r := &Recording{RecorderNS: int64(o.Recorder)}
	if o.Wall > 0 {
		v := o.Target.Seconds() / o.Wall.Seconds()
		r.TargetCores = &v
	}
	if o.BeforeWall > 0 {
		v := o.Before.Seconds() / o.BeforeWall.Seconds()
		r.BeforeCores = &v
	}
	return r
}

package experiment

import (
	"strings"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// About says what a trial compared, for those who read it later. Whoever ran
// the trial fills it in; no verdict rests on it.
type About struct {
	A Arm `json:"a"`
	B Arm `json:"b"`
	// Load is the load generator's command and Ready what was waited for before
	// it; empty without.
	Load  string `json:"load,omitempty"`
	Ready string `json:"ready,omitempty"`
	// Again are the arguments of gowhy that run the trial again.
	Again []string `json:"again,omitempty"`
	// Finding is what was put to the test, nil when no finding was.
	Finding *Claim `json:"finding,omitempty"`
	// Gone and Came are the findings that only A's or only B's counted runs
	// have; Diagnosed says that both were diagnosed.
	Gone      []Claim `json:"gone,omitempty"`
	Came      []Claim `json:"came,omitempty"`
	Diagnosed bool    `json:"diagnosed,omitempty"`
}

// An Arm is one side of a comparison.
type Arm struct {
	Name     string   `json:"name"` // what tells it from the other, like "GOMAXPROCS=2"
	Command  []string `json:"command,omitempty"`
	Env      []string `json:"env,omitempty"` // beside the environment of both
	Dir      string   `json:"dir,omitempty"`
	Revision string   `json:"revision,omitempty"` // of git, empty for the working tree or a given program
	// Differs is what it was built with that the other was not, as "golang.org/x/text v0.3.0 → v0.14.0".
	Differs []string `json:"differs,omitempty"`
}

// String returns the arm as a shell would take it, with what a shell cannot say.
func (a Arm) String() string {
	s := shell.Words(a.Command)
	var env []string
	for _, e := range a.Env {
		name, value, _ := strings.Cut(e, "=")
		env = append(env, name+"="+shell.Word(value))
	}
	if len(env) > 0 {
		s = strings.Join(env, " ") + " " + s
	}
	if a.Name != "" && !strings.Contains(s, a.Name) {
		s = strings.TrimSpace(s + "  (" + a.Name + ")")
	}
	return s
}

// A Claim is a finding in short.
type Claim struct {
	Rule    string `json:"rule"`
	Title   string `json:"title"`
	Summary string `json:"summary,omitempty"`
	// Expect is the finding's bound, zero when it has none.
	Expect diagnosis.Bound `json:"expect,omitzero"`
	Note   string          `json:"note,omitempty"`
	// Tune is the knob and its range when the value has to be found.
	Tune string `json:"tune,omitempty"`
	From string `json:"from,omitempty"` // the recording
}

package trialreport

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/prove/gate"
)

// What CI systems read of JUnit's XML; there is no schema, only custom.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string       `xml:"name,attr"`
		Class   string       `xml:"classname,attr"`
		File    string       `xml:"file,attr,omitempty"`
		Line    int          `xml:"line,attr,omitempty"`
		Failure *junitResult `xml:"failure"`
		Skipped *junitResult `xml:"skipped"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
	}
)

// JUnit writes the result of a gate as JUnit's XML: a suite for each check, a
// case for each measure. What could not be decided is skipped, or failed when
// the policy says so.
func JUnit(w io.Writer, r *gate.Result, _ layout.Options) error {
	all := junitSuites{Name: "gowhy gate", Time: junitSeconds(r.Took.Seconds())}
	for i := range r.Checks {
		s := junitCheck(r, &r.Checks[i])
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Suites = append(all.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitCheck(r *gate.Result, c *gate.Check) junitSuite {
	s := junitSuite{Name: layout.Safe(junitName(c)), Time: junitSeconds(c.Took.Seconds())}
	add := func(name string, v gate.Verdict, why string, at gate.Position) {
		k := junitCase{Name: layout.Safe(name), Class: layout.Safe(c.Package), File: layout.Safe(at.File), Line: at.Line}
		switch {
		case v == gate.Regressed, v == gate.Inconclusive && r.InconclusiveFails:
			k.Failure = &junitResult{layout.Safe(why), string(v)}
			s.Failures++
		case v == gate.Inconclusive:
			k.Skipped = &junitResult{Message: layout.Safe(why)}
			s.Skipped++
		}
		s.Tests++
		s.Cases = append(s.Cases, k)
	}
	if c.Problem != "" {
		add("measured", gate.Inconclusive, c.Problem, c.At)
	}
	for i := range c.Measures {
		m := &c.Measures[i]
		add(measureName(m), m.Verdict, measureMessage(m), m.At)
	}
	return s
}

// junitName returns the name of a check, which dots alone are not.
func junitName(c *gate.Check) string {
	if c.Name == c.Package {
		return checkTitle(c)
	}
	return c.Name
}

func junitSeconds(s float64) string { return fmt.Sprintf("%.3f", s) }

package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// A bill of materials in CycloneDX 1.5, as far as it is said of a Go binary.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp  time.Time  `json:"timestamp"`
	Component  component  `json:"component"`
	Properties []property `json:"properties,omitempty"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// materials returns the bill of a binary: the modules that the go command wrote into it,
// with their sums, and the packages of the page. It has no serial number: the same
// binary has the same bill.
func materials(b *build) ([]byte, error) {
	info, err := buildinfo.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile("ui/package.json")
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return nil, err
	}
	// In the workspace the agent is a main module too, which has no version of its own
	// in the binary; go.work says that it is the one that go.mod requires.
	for _, m := range info.Deps {
		if required := regexp.MustCompile(`(?m)^\s+` + regexp.QuoteMeta(m.Path) + ` (v\S+)`).FindSubmatch(mod); required != nil && m.Version == "(devel)" {
			m.Version = string(required[1])
		}
	}
	l, err := billOf(info, page)
	if err != nil {
		return nil, err
	}
	l.Metadata.Timestamp = b.at
	l.Metadata.Component.Hashes = []hash{{"SHA-256", digest(b.data)}}
	text, err := json.MarshalIndent(l, "", "  ")
	return append(text, '\n'), err
}

func billOf(info *debug.BuildInfo, page []byte) (*bill, error) {
	self := goModule(&info.Main)
	self.Type = "application"
	l := &bill{Format: "CycloneDX", Spec: "1.5", Version: 1, Metadata: metadata{Component: self}}
	for _, s := range info.Settings {
		l.Metadata.Properties = append(l.Metadata.Properties, property{"go:build:" + s.Key, s.Value})
	}
	l.Components = []component{{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		l.Components = append(l.Components, goModule(m))
	}
	npm, err := npmPackages(page)
	if err != nil {
		return nil, err
	}
	l.Components = append(l.Components, npm...)
	var on []string
	for i := range l.Components {
		l.Components[i].Ref = l.Components[i].PURL
		on = append(on, l.Components[i].Ref)
	}
	// A binary does not know which module requires which: all are its own.
	l.Dependencies = []dependency{{self.Ref, on}}
	return l, nil
}

func goModule(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	purl := "pkg:golang/" + m.Path + "@" + url.QueryEscape(m.Version)
	c := component{Ref: purl, Type: "library", Name: m.Path, Version: m.Version, PURL: purl}
	// h1 is a hash of the hashes of all files, and not that of one file: a consumer
	// that compares hashes must not take it for one.
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil {
			c.Properties = append(c.Properties, property{"go:sum:hex", hex.EncodeToString(sum)})
		}
	}
	return c
}

// npmPackages returns those that the page is built from.
func npmPackages(page []byte) (list []component, err error) {
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(page, &p); err != nil {
		return nil, err
	}
	for name, version := range p.Dependencies {
		list = append(list, component{Type: "library", Name: name, Version: version, PURL: "pkg:npm/" + name + "@" + version})
	}
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

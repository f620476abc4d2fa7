package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A program is one whose notices are collected.
type program struct {
	name, path string
	// file is embedded in it, and what it prints: gowhy version --licenses.
	file  string
	pages []page
}

// A page is what is built into a program beside Go, and its notices.
type page struct{ name, file string }

var (
	gowhy = program{"gowhy", "./cmd/gowhy", "internal/show/cli/licenses.txt", []page{
		{"preact and uPlot, in the page", "internal/show/web/dist/licenses.txt"},
	}}
	fleet = program{"gowhy-fleet", "./fleet/cmd/gowhy-fleet", "fleet/cmd/gowhy-fleet/licenses.txt", []page{
		{"preact and uPlot, in the page", "fleet/page/dist/licenses.txt"},
	}}
)

// ownModule is ours, and so is what lies below it.
const ownModule = "github.com/gowhy/gowhy"

var isNotice = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)(\.(md|txt))?$`)

// A notice is a text with the names of all that it is of.
type notice struct {
	text string
	of   []string
}

// licenses collects the notices of all that is part of a binary of some system: Go
// itself, the linked packages and, of the module they are in, each folder above them
// (see linkedFolders); and what is built into the page.
func (p program) licenses(ctx context.Context, linked map[string]map[string]bool) ([]byte, error) {
	var list []*notice
	add := func(name, file string) error {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text := tidy(data)
		for _, n := range list {
			if n.text == text {
				if !slices.Contains(n.of, name) {
					n.of = append(n.of, name)
				}
				return nil
			}
		}
		list = append(list, &notice{text, []string{name}})
		return nil
	}
	root, err := command(ctx, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := add("Go, its runtime and standard library", filepath.Join(strings.TrimSpace(root), "LICENSE")); err != nil {
		return nil, fmt.Errorf("the licence of Go: %w\nhint: use a Go from its own site, which has it", err)
	}
	for _, module := range slices.Sorted(maps.Keys(linked)) {
		named := false
		for _, dir := range slices.Sorted(maps.Keys(linked[module])) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if isNotice.MatchString(e.Name()) && e.Type().IsRegular() {
					if err := add(module, filepath.Join(dir, e.Name())); err != nil {
						return nil, err
					}
					named = true
				}
			}
		}
		if !named {
			return nil, fmt.Errorf("%s has no licence in it\nhint: ask its authors, or do without it", module)
		}
	}
	for _, n := range p.pages {
		if err := add(n.name, n.file); err != nil {
			return nil, fmt.Errorf("%w\nhint: cd ui && npm ci && npm run build", err)
		}
	}
	var b bytes.Buffer
	b.WriteString(p.name + " has code of others in it. These are its parts, and what their authors ask\nto be told with them.\n")
	for _, n := range list {
		fmt.Fprintf(&b, "\n%s\n%s\n%s\n\n%s", strings.Repeat("=", 80), strings.Join(n.of, "\n"), strings.Repeat("=", 80), n.text)
	}
	return b.Bytes(), nil
}

// tidy returns a text without what differs between copies and means nothing.
func tidy(data []byte) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))) {
		b.WriteString(strings.TrimRight(line, " \t\r\n\f") + "\n")
	}
	return b.String()
}

// linkedFolders are, for each module that a binary of some system has in it, the
// folders of the packages and those above, to the module's own.
func (p program) linkedFolders(ctx context.Context) (map[string]map[string]bool, error) {
	folders := map[string]map[string]bool{}
	for _, t := range targets {
		out, err := command(ctx, []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0"}, "go", "list", "-deps",
			"-f", "{{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}", p.path)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(out) {
			part := strings.Split(strings.TrimSpace(line), "\t")
			if len(part) != 3 || strings.HasPrefix(part[0], ownModule+" ") || strings.HasPrefix(part[0], ownModule+"/") {
				continue
			}
			if folders[part[0]] == nil {
				folders[part[0]] = map[string]bool{}
			}
			for dir := part[2]; ; dir = filepath.Dir(dir) {
				folders[part[0]][dir] = true
				if dir == part[1] || len(dir) < len(part[1]) {
					break
				}
			}
		}
	}
	return folders, nil
}

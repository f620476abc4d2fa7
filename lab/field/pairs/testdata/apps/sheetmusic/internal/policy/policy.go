// Package policy says who may see what.
package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Effect is what a statement does.
type Effect bool

// The effects.
const (
	Allow Effect = true
	Deny  Effect = false
)

// Statement allows or denies a role an action on resources.
type Statement struct {
	Role, Action, Resource string
	Effect                 Effect
}

// Subject is who asks.
type Subject struct {
	Name  string
	Roles []string
}

// Engine evaluates statements.
type Engine struct {
	parents    map[string][]string
	statements []Statement
}

// New returns the rules of a library network.
func New() *Engine {
	e := &Engine{parents: map[string][]string{
		"librarian": {"member"}, "member": {"visitor"}, "conductor": {"player"}, "player": {"member"}, "archivist": {"librarian"},
	}}
	for _, f := range []string{"title", "composer", "year", "parts", "scan"} {
		e.statements = append(e.statements, Statement{"visitor", "read", "*/" + f, Allow})
	}
	for i, c := range []string{"orchestra", "choir", "chamber", "organ", "opera", "band"} {
		e.statements = append(e.statements,
			Statement{"member", "read", c + "/shelf", Allow},
			Statement{"librarian", "read", c + "/lender", Allow},
			Statement{"archivist", "*", c + "/price", Allow},
			Statement{"player", "read", c + "/[l-p]*", Allow},
			Statement{fmt.Sprintf("guest%d", i), "read", c + "/scan", Deny})
	}
	return e
}

// Expand returns the roles with all that they include.
func (e *Engine) Expand(roles []string) []string {
	var out []string
	for todo := slices.Clone(roles); len(todo) > 0; {
		r := todo[0]
		todo = todo[1:]
		if !slices.Contains(out, r) {
			out = append(out, r)
			todo = append(todo, e.parents[r]...)
		}
	}
	return out
}

// Allowed reports whether a subject may do action on a resource.
func (e *Engine) Allowed(s Subject, action, resource string) bool {
	roles := e.Expand(s.Roles)
	ok := false
	for _, st := range e.statements {
		if !slices.Contains(roles, st.Role) || !match(st.Action, action) || !match(st.Resource, resource) {
			continue
		}
		if st.Effect == Deny {
			return false
		}
		ok = true
	}
	return ok
}

func match(pattern, s string) bool {
	if !strings.ContainsAny(pattern, "*?[") {
		return pattern == s
	}
	m, err := path.Match(pattern, s)
	return err == nil && m
}

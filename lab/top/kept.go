//go:build linux

package main

import (
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// kept is the cure: the files stay open, one goroutine reads them one after
// the other with one system call each, and what did not run is not read whole.
type kept struct{ table *proc.Table }

func newKept(w watch) (monitor, error) {
	t, err := proc.NewTable(proc.Watch{PID: w.pid, Tree: w.tree, Threads: w.threads})
	if err != nil {
		return nil, err
	}
	return &kept{t}, nil
}

func (m *kept) update() error { return m.table.Update() }
func (m *kept) kept() int     { return m.table.Use().Kept }
func (m *kept) close()        { m.table.Close() }

func (m *kept) rows() (rows []row) {
	for _, t := range m.table.Tree(nil) {
		r := row{
			id: t.ID, depth: t.Depth, thread: t.Thread, name: t.Name, state: t.State,
			user: t.User, system: t.System, wait: t.RunQueue, rss: t.RSS,
		}
		rows = append(rows, r)
	}
	return rows
}

package record

import (
	"context"
	"os"
	"path/filepath"
)

// A Door is a socket at which the agent of one program listens that was started
// with [Door.Env] in its environment. The program then waits in its agent for a
// second, or until a recording from its start begins.
type Door struct{ dir, socket string }

// NewDoor makes a door in a directory that is this user's alone.
func NewDoor() (*Door, error) {
	dir, err := os.MkdirTemp("", "gowhy-") // short: a socket's name is of 108 bytes at most
	if err != nil {
		return nil, err
	}
	return &Door{dir, filepath.Join(dir, "agent")}, nil
}

// Env is the variable, as NAME=VALUE.
func (d *Door) Env() string { return "GOWHY_AGENT=unix:" + d.socket }

// Close removes the directory.
func (d *Door) Close() { os.RemoveAll(d.dir) }

// endpoint is what the agent answers at, if it has begun to listen.
func (d *Door) endpoint(ctx context.Context) (*endpoint, error) {
	if _, err := os.Stat(d.socket); err != nil {
		return nil, err
	}
	at := &endpoint{client: unixClient(d.socket), base: "http://gowhy" + agentPath, agent: true, local: true}
	if err := at.probe(ctx, probeLimit); err != nil {
		return nil, err
	}
	return at, nil
}

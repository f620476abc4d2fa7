package record

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// An AgentSocket is a socket at which the agent of one program listens that was started
// with [AgentSocket.Env] in its environment. The program then waits in its agent for a
// second, or until a recording from its start begins.
type AgentSocket struct{ dir, socket string }

// NewAgentSocket makes a socket in a directory that is this user's alone.
func NewAgentSocket() (*AgentSocket, error) {
	removeOldSockets()
	dir, err := os.MkdirTemp("", "gowhy-") // short: a socket's name is of 108 bytes at most
	if err != nil {
		return nil, err
	}
	return &AgentSocket{dir, filepath.Join(dir, "agent")}, nil
}

// removeOldSockets removes what recorders left that were killed: directories
// with nothing but a socket at which nobody listens.
func removeOldSockets() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), "gowhy-[0-9]*"))
	for _, dir := range dirs {
		socket := filepath.Join(dir, "agent")
		info, err := os.Lstat(socket)
		if err != nil || info.Mode().Type() != fs.ModeSocket {
			continue
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			continue
		}
		c, err := net.DialTimeout("unix", socket, probeLimit)
		if err == nil {
			c.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			os.RemoveAll(dir)
		}
	}
}

// Env returns the variable, as NAME=VALUE.
func (d *AgentSocket) Env() string { return "GOWHY_AGENT=unix:" + d.socket }

// Close removes the directory.
func (d *AgentSocket) Close() { os.RemoveAll(d.dir) }

// endpoint returns the agent's address, if it has begun to listen.
func (d *AgentSocket) endpoint(ctx context.Context) (*endpoint, error) {
	if _, err := os.Stat(d.socket); err != nil {
		return nil, err
	}
	at := &endpoint{client: unixClient(d.socket), base: "http://gowhy" + agentPath, agent: true, local: true}
	if err := at.probe(ctx, probeLimit); err != nil {
		return nil, err
	}
	return at, nil
}

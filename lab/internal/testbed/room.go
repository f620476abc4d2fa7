package testbed

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Room is what the placeholders of one run stand for.
type Room struct {
	Program string // {case}
	Gowhy   string // {gowhy}
	Dir     string // {dir}, empty at first
	Port    int    // {port}, free on loopback for TCP and UDP
}

// room makes the room of a run.
func (b *Bed) room(program, gowhy string) (*Room, error) {
	b.mu.Lock()
	b.rooms++
	dir := filepath.Join(b.dir, "run", strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(b.rooms))
	b.mu.Unlock()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	port, err := freePort()
	return &Room{Program: program, Gowhy: gowhy, Dir: dir, Port: port}, err
}

// Fill puts what they stand for in the place of placeholders.
func (r *Room) Fill(args []string) []string {
	with := strings.NewReplacer("{port}", strconv.Itoa(r.Port), "{dir}", r.Dir, "{case}", r.Program, "{gowhy}", r.Gowhy)
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = with.Replace(a)
	}
	return out
}

// remove ends the room.
func (r *Room) remove() { os.RemoveAll(r.Dir) }

const portTries = 100

// freePort returns a port of loopback that neither TCP nor UDP uses now.
func freePort() (int, error) {
	var last error
	for range portTries {
		port, err := tryPort()
		if err == nil {
			return port, nil
		}
		last = err
	}
	return 0, fmt.Errorf("no port is free for both TCP and UDP: %w", last)
}

func tryPort() (port int, err error) {
	tcp, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return 0, err
	}
	port = tcp.Addr().(*net.TCPAddr).Port
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err == nil {
		err = udp.Close()
	}
	return port, errors.Join(err, tcp.Close())
}

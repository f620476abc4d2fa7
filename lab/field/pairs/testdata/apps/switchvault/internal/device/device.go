// Package device is a rack of switches that answer commands on their consoles.
package device

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
)

// Switch is one switch.
type Switch struct {
	Name   string
	mu     sync.Mutex
	ports  []string
	rnd    *rand.Rand
	clicks int
}

// New makes a switch with n ports.
func New(name string, n int, seed uint64) *Switch {
	s := &Switch{Name: name, rnd: rand.New(rand.NewPCG(seed, 2))}
	for i := range n {
		s.ports = append(s.ports, fmt.Sprintf("interface GigabitEthernet1/0/%d\n description room %d desk %c\n switchport access vlan %d\n switchport mode access\n spanning-tree portfast\n!\n",
			i+1, s.rnd.IntN(400), 'A'+rune(s.rnd.IntN(26)), 10+s.rnd.IntN(40)))
	}
	return s
}

func (s *Switch) answer(command string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out bytes.Buffer
	switch command {
	case "show version":
		fmt.Fprintf(&out, "%s, release 15.2(7)E3\nuptime is %d minutes\n", s.Name, s.clicks)
	case "show running-config":
		s.clicks++
		i := s.rnd.IntN(len(s.ports))
		s.ports[i] = fmt.Sprintf("interface GigabitEthernet1/0/%d\n description moved %d\n switchport access vlan %d\n!\n", i+1, s.clicks, 10+s.rnd.IntN(40))
		fmt.Fprintf(&out, "! last change at minute %d\nhostname %s\n!\n", s.clicks, s.Name)
		for _, p := range s.ports {
			out.WriteString(p)
		}
	default:
		out.WriteString("% invalid input\n")
	}
	return out.Bytes()
}

// Console attaches to the console of the switch.
func (s *Switch) Console() net.Conn {
	near, far := net.Pipe()
	go func() {
		defer far.Close()
		in := bufio.NewScanner(far)
		fmt.Fprintf(far, "\n%s#", s.Name)
		for in.Scan() {
			command := strings.TrimSpace(in.Text())
			if command == "exit" {
				return
			}
			if _, err := far.Write(append(s.answer(command), s.Name+"#"...)); err != nil {
				return
			}
		}
	}()
	return near
}

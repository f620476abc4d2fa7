// Package field stands for the controllers in the houses.
package field

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"
)

// Controller answers commands over a radio link that drops now and then.
type Controller struct {
	name string
	rnd  *rand.Rand
}

// NewController makes a controller.
func NewController(name string, seed uint64) *Controller {
	return &Controller{name: name, rnd: rand.New(rand.NewPCG(seed, 41))}
}

// Run connects, again after each drop, until the context ends.
func (c *Controller) Run(ctx context.Context, addr string) {
	for ctx.Err() == nil {
		c.connect(addr)
		time.Sleep(20 * time.Millisecond)
	}
}

func (c *Controller) connect(addr string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HELLO %s\n", c.name)
	var mu sync.Mutex
	r := bufio.NewReader(conn)
	left := 6 + c.rnd.IntN(16)
	for ; left > 0; left-- {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		id, _, ok := strings.Cut(line, " ")
		if !ok {
			continue
		}
		temp, humid := 18+8*c.rnd.Float64(), 55+30*c.rnd.Float64()
		time.AfterFunc(time.Duration(20+c.rnd.IntN(140))*time.Millisecond, func() {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(conn, "%s ok %.2f %.1f\n", id, temp, humid)
		})
	}
}

// Package robot drives the picking arms.
package robot

import (
	"bufio"
	"encoding/json"
	"net"
	"time"

	"dispensary/internal/order"
)

// Arm is the connection to one picking arm.
type Arm struct {
	enc *json.Encoder
	dec *json.Decoder
}

type picked struct{ Bags int }

// Connect opens the connection to an arm.
func Connect(addr string) (*Arm, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Arm{json.NewEncoder(c), json.NewDecoder(bufio.NewReader(c))}, nil
}

// Pick fetches the doses and returns the number of bags.
func (a *Arm) Pick(doses []order.Dose) (int, error) {
	if err := a.enc.Encode(doses); err != nil {
		return 0, err
	}
	var p picked
	err := a.dec.Decode(&p)
	return p.Bags, err
}

// Serve is the controller of the arms.
func Serve(ln net.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go move(c)
	}
}

func move(c net.Conn) {
	defer c.Close()
	dec, enc := json.NewDecoder(bufio.NewReader(c)), json.NewEncoder(c)
	for {
		var doses []order.Dose
		if dec.Decode(&doses) != nil {
			return
		}
		at, way, bags := 0, 0, 0
		for _, d := range doses {
			way += max(d.Shelf-at, at-d.Shelf)
			at = d.Shelf
			bags += d.Count
		}
		time.Sleep(2*time.Millisecond + time.Duration(way)*120*time.Microsecond)
		if enc.Encode(picked{bags}) != nil {
			return
		}
	}
}

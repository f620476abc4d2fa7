// Package station makes up what stations measure.
package station

// A Packet is what a station sends.
type Packet struct {
	Station int
	First   int64
	Samples []int32
}

// A Network has stations.
type Network struct {
	state  []uint32
	next   []int64
	packet []int32
}

// NewNetwork makes a network, whose packets have so many samples.
func NewNetwork(stations, samples int) *Network {
	n := &Network{state: make([]uint32, stations), next: make([]int64, stations), packet: make([]int32, samples)}
	for i := range n.state {
		n.state[i] = uint32(i+1) * 2654435761
	}
	return n
}

// Next returns the next packet of a station, which is good until the one after.
func (n *Network) Next(id int) Packet {
	first := n.next[id]
	s := n.state[id]
	shaking := id%12 == int(first/100_000)%12
	v := int32(0)
	for i := range n.packet {
		s = s*1664525 + 1013904223
		v += int32(s>>25) - 64
		v -= v / 8
		n.packet[i] = v
		if shaking {
			n.packet[i] = v * 9
		}
	}
	n.state[id] = s
	n.next[id] += int64(len(n.packet))
	return Packet{Station: id, First: first, Samples: n.packet}
}

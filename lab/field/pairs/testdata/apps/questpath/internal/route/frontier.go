package route

import "container/heap"

type node struct {
	at   int32
	cost int32
	est  int32
}

// frontier holds the nodes that are still to be visited.
type frontier interface {
	add(n node)
	next() (node, bool)
}

type openList struct {
	nodes []node
}

func (o *openList) add(n node) {
	for i := range o.nodes {
		if o.nodes[i].at == n.at {
			if n.est < o.nodes[i].est {
				o.nodes[i] = n
			}
			return
		}
	}
	o.nodes = append(o.nodes, n)
}

func (o *openList) next() (node, bool) {
	if len(o.nodes) == 0 {
		return node{}, false
	}
	best := 0
	for i, n := range o.nodes {
		if n.est < o.nodes[best].est {
			best = i
		}
	}
	n, last := o.nodes[best], len(o.nodes)-1
	o.nodes[best] = o.nodes[last]
	o.nodes = o.nodes[:last]
	return n, true
}

type nodeHeap []node

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i].est < h[j].est }
func (h nodeHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nodeHeap) Push(x any)        { *h = append(*h, x.(node)) }
func (h *nodeHeap) Pop() any {
	n := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return n
}

type openHeap struct {
	h nodeHeap
}

func (o *openHeap) add(n node) { heap.Push(&o.h, n) }

func (o *openHeap) next() (node, bool) {
	if len(o.h) == 0 {
		return node{}, false
	}
	return heap.Pop(&o.h).(node), true
}

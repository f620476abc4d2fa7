// Taxiheap finds the shortest ways through a city for taxis.
package main

import (
	"container/heap"
	"flag"
	"fmt"
)

const side = 200

type step struct {
	seconds int
	corner  int
}

// A boxed queue is the heap of the standard library.
type boxed []step

func (q boxed) Len() int           { return len(q) }
func (q boxed) Less(i, j int) bool { return q[i].seconds < q[j].seconds }
func (q boxed) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *boxed) Push(x any)        { *q = append(*q, x.(step)) }
func (q *boxed) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q *boxed) put(s step) { heap.Push(q, s) }
func (q *boxed) take() step { return heap.Pop(q).(step) }

// A plain queue is a heap of steps.
type plain []step

func (q *plain) Len() int { return len(*q) }

func (q *plain) put(s step) {
	h := append(*q, s)
	for i := len(h) - 1; i > 0 && s.seconds < h[(i-1)/2].seconds; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	*q = h
}

func (q *plain) take() step {
	h := *q
	first, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && h[child+1].seconds < h[child].seconds {
			child++
		}
		if h[i].seconds <= h[child].seconds {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	*q = h
	return first
}

type queue interface {
	Len() int
	put(step)
	take() step
}

// street is how long it takes from a corner to one beside it.
func street(from, to int) int { return 10 + (from*31+to*17)%50 }

func beside(corner int) (out [4]int, n int) {
	x, y := corner%side, corner/side
	for _, d := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		if nx, ny := x+d[0], y+d[1]; nx >= 0 && nx < side && ny >= 0 && ny < side {
			out[n] = ny*side + nx
			n++
		}
	}
	return out, n
}

// seconds is how long a taxi takes to all corners.
func seconds(q queue, from int, best []int) {
	for i := range best {
		best[i] = -1
	}
	q.put(step{0, from})
	for q.Len() > 0 {
		s := q.take()
		if best[s.corner] >= 0 {
			continue
		}
		best[s.corner] = s.seconds
		next, n := beside(s.corner)
		for _, to := range next[:n] {
			if best[to] < 0 {
				q.put(step{s.seconds + street(s.corner, to), to})
			}
		}
	}
}

func main() {
	box := flag.Bool("box", false, "use the heap of the standard library")
	taxis := flag.Int("taxis", 100, "how many taxis ask")
	flag.Parse()
	var q queue = &plain{}
	if *box {
		q = &boxed{}
	}
	best, farthest := make([]int, side*side), 0
	for t := range *taxis {
		seconds(q, t*7919%len(best), best)
		farthest = max(farthest, best[len(best)-1-t])
	}
	fmt.Println("farthest:", farthest)
	fmt.Printf("operations: %d\n", *taxis)
}

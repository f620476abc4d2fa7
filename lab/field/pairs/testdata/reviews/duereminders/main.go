// Duereminders keeps the reminders of many people and sends each when it is due.
package main

import (
	"container/heap"
	"flag"
	"fmt"
	"math/rand/v2"
	"time"
)

type reminder struct {
	due  time.Time
	text string
	sent bool
}

// An agenda hands out what is due.
type agenda interface {
	due(now time.Time) []*reminder
}

type unsorted []*reminder

func (u unsorted) due(now time.Time) (list []*reminder) {
	for _, r := range u {
		if !r.sent && !r.due.After(now) {
			r.sent = true
			list = append(list, r)
		}
	}
	return list
}

type queue []*reminder

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*reminder)) }

func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

func (q *queue) due(now time.Time) (list []*reminder) {
	for len(*q) > 0 && !(*q)[0].due.After(now) {
		list = append(list, heap.Pop(q).(*reminder))
	}
	return list
}

func main() {
	sorted := flag.Bool("sorted", false, "keep reminders in the order in which they are due")
	last := flag.Duration("time", 5*time.Second, "how long it runs")
	flag.Parse()
	r := rand.New(rand.NewPCG(5, 6))
	var all []*reminder
	for i := range 40000 {
		all = append(all, &reminder{due: time.Now().Add(time.Duration(r.Int64N(int64(10 * time.Minute)))), text: fmt.Sprint("reminder ", i)})
	}
	var a agenda = unsorted(all)
	if *sorted {
		q := queue(all)
		heap.Init(&q)
		a = &q
	}
	sent, looked := 0, 0
	tick := time.NewTicker(2 * time.Millisecond)
	for end := time.Now().Add(*last); time.Now().Before(end); looked++ {
		sent += len(a.due(<-tick.C))
	}
	fmt.Println("sent:", sent)
	fmt.Printf("operations: %d\n", looked)
}

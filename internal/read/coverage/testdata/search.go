// Search is counted by the test: each number in it is known.
package main

import "sort"

// find is called 10 times and finds what it looks for in 3 of them.
func find(list []int, x int) bool {
	for _, v := range list { // 100 rounds at most
		if v == x {
			return true
		}
	}
	return false
}

// pairs has two loops, the inner one left early in 9 of its 10 entries.
func pairs(n int) (sum int) {
	// A comment before the loop.
outer:
	for i := 0; i < n; i++ {
		for j := 0; j < n; j++ {
			switch {
			case j > i:
				continue outer
			case j == i:
				break // of the switch
			}

			sum += j
		}
	}
	return sum
}

// literals has its loop in a literal; the one outside of it goes round 5 times.
func literals() (sum int) {
	add := func(n int) {
		for range n {
			sum++
		}
	}
	for i := range 5 {
		add(i)
	}
	for sum > 1 {
		sum /= 2
	}
	return sum
}

// less is called by the comparisons of a sort.
func sorted(list []int) { sort.Slice(list, func(i, j int) bool { return list[i] < list[j] }) }

func endless(n int) int {
	for {
		if n--; n < 0 {
			break
		}
	}
	for range n {
	}
	return n
}

func never() {}

func main() {
	var list []int
	for i := range 100 {
		list = append(list, i)
	}
	for i := range 10 {
		find(list, i*47)
	}
	pairs(10)
	literals()
	sorted([]int{2, 1})
	endless(7)
	if len(list) == 0 {
		never()
	}
}

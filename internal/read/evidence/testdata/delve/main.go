package main

import "time"

func send(c chan int) { c <- 1 }

func wait(c chan int) { <-c }

func main() {
	c, d := make(chan int), make(chan int)
	for range 3 {
		go send(c)
	}
	go wait(d)
	time.Sleep(100 * time.Millisecond)
	panic("no room")
}

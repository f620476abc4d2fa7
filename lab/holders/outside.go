package main

// What is outside of the heap.
var outside = []program{
	{"malloc", "memory of C's malloc", takeFromC},
	{"mmap", "memory that the program mapped itself", mapMemory},
}

package main

/*
#cgo LDFLAGS: -lpthread
#include <pthread.h>
#include <unistd.h>

extern void callback(int);

static void *thread(void *arg) {
	int n;
	for (n = 0; n < 20; n++) {
		callback(n);
		usleep(50);
	}
	return 0;
}

static inline void threads(int n) {
	pthread_t t[64];
	int i, made = 0;
	for (i = 0; i < n && i < 64; i++)
		if (pthread_create(&t[made], 0, thread, 0) == 0)
			made++;
	for (i = 0; i < made; i++)
		pthread_join(t[i], 0);
}

static inline void nap(void) { usleep(200); }
*/
import "C"

import (
	"context"
	"sync"
)

var calls sync.Map

//export callback
func callback(n C.int) {
	c := make(chan bool)
	go func() { calls.Store(int(n), true); close(c) }()
	<-c
}

// work lets threads of C's own call into Go, so that goroutine ids are used
// again, and calls into C.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	var wg sync.WaitGroup
	for i := 0; i < 2; i++ {
		wg.Add(1)
		go func(i int) {
			defer wg.Done()
			for !stop.Load() {
				if i == 0 {
					C.threads(C.int(size))
				} else {
					C.nap()
				}
			}
		}(i)
	}
	wg.Wait()
}

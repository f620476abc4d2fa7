package subject

import (
	"hash/crc32"
	"runtime"
	"time"
)

// CalibrateVariable is set in the environment of the process that [Floor]
// starts: main then calls [Calibrate] and nothing else.
const CalibrateVariable = "GOWHY_CALIBRATE"

// What Calibrate does: some 30 ms of CPU on a machine of 2020.
const (
	calibrateRounds = 180
	calibrateBlock  = 64 << 10
)

// sink keeps results from being optimized away.
//
//lint:ignore U1000 it is written only
var sink uint32

// Calibrate does a fixed piece of work that has a part of everything that makes
// runs of Go programs differ: arithmetic on memory, allocation with collections,
// and goroutines that hand work to each other. Its only use is to be timed.
func Calibrate() {
	work, results := make(chan []byte), make(chan uint32)
	for range 2 {
		go func() {
			for b := range work {
				results <- crc32.ChecksumIEEE(b)
			}
		}()
	}
	var kept [32][]byte
	go func() {
		for i := range calibrateRounds {
			b := make([]byte, calibrateBlock)
			for j := range b {
				b[j] = byte(i ^ j*j)
			}
			kept[i%len(kept)] = b
			work <- b
		}
		close(work)
	}()
	for range calibrateRounds {
		sink ^= <-results
	}
	runtime.GC()
	runtime.KeepAlive(&kept)
}

// calibrateLimit is when a calibration has gone wrong.
const calibrateLimit = 20 * time.Second

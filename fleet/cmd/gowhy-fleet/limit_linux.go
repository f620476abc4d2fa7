package main

import (
	"fmt"
	"syscall"
)

// limitData bounds the memory that this process can write to. The kernel refuses more.
func limitData(bytes int64) error {
	limit := syscall.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		return fmt.Errorf("bound this process to %d bytes: %w", bytes, err)
	}
	return nil
}

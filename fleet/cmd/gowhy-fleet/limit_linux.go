package main

import (
	"errors"
	"fmt"
	"syscall"
)

// limitData bounds the memory that this process can write to. The kernel refuses more. Where a
// sandbox does not let a process bound itself, the collector alone keeps to GOMEMLIMIT.
func limitData(bytes int64) error {
	limit := syscall.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil && !errors.Is(err, syscall.EPERM) {
		return fmt.Errorf("bound this process to %d bytes: %w", bytes, err)
	}
	return nil
}

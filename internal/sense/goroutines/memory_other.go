//go:build !linux

package goroutines

func openProcess(int) (memory, error) { return nil, ErrSystem }

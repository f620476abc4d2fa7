//go:build !unix

package remote

import "syscall"

// ownGroup leaves a command in ours: an interrupt ends it, and what it has recorded.
func ownGroup() *syscall.SysProcAttr { return nil }

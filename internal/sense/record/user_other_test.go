//go:build !unix

package record

import "syscall"

// asUser is not reached: only root on Unix becomes another user.
func asUser(uint32) *syscall.SysProcAttr { return nil }

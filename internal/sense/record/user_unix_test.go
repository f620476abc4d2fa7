//go:build unix

package record

import "syscall"

// asUser lets a process run as another user, in that user's group.
func asUser(id uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
}

// Package durable makes names in directories survive a loss of power.
//
// It hides what a system needs for that. A file whose content was synced may still lose
// its name.
package durable

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir makes the names in a directory durable. Windows has no such call: NTFS keeps a
// journal of names.
func SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

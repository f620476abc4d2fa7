//go:build !unix

package exectrace

import (
	"errors"
	"os"
)

// mapFile is not available here; the file is read as a stream instead.
func mapFile(*os.File, int64) ([]byte, func(from, to int), func() error, error) {
	return nil, nil, nil, errors.ErrUnsupported
}

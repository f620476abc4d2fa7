package main

import (
	"archive/zip"
	"errors"
	"io"
)

// maxMember bounds what the baselines read of one piece of a recording; a trace
// of some seconds has a tenth of it.
const maxMember = 512 << 20

// baselines reads the evidence that gowhy had, for those who get the same.
func baselines(recording string) (t Thresholds, top Top, err error) {
	t.Missing = true
	z, err := zip.OpenReader(recording)
	if err != nil {
		return t, top, err
	}
	defer z.Close()
	err = errors.Join(
		member(&z.Reader, "trace", func(r io.Reader) { t = thresholds(r) }),
		member(&z.Reader, "cpu.pb.gz", func(r io.Reader) { top = pprofTop(r, userOwned) }))
	return t, top, err
}

// topOf returns what pprof -top says of a recording, some of whose functions are the user's own.
func topOf(recording string, owned func(name string) bool) (top Top, err error) {
	z, err := zip.OpenReader(recording)
	if err != nil {
		return top, err
	}
	defer z.Close()
	err = member(&z.Reader, "cpu.pb.gz", func(r io.Reader) { top = pprofTop(r, owned) })
	return top, err
}

// member gives a piece of the recording to read, if it is there.
func member(z *zip.Reader, name string, read func(io.Reader)) error {
	for _, f := range z.File {
		if f.Name != name {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		defer r.Close()
		read(io.LimitReader(r, maxMember))
	}
	return nil
}

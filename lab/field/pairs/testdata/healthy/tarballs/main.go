// Tarballs packs the files of releases into archives, through a compressor that is reset.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
)

type packer struct {
	out bytes.Buffer
	zip *gzip.Writer
}

func newPacker() *packer {
	p := &packer{}
	p.zip = gzip.NewWriter(&p.out)
	return p
}

func (p *packer) pack(release int, files [][]byte) (int, error) {
	p.out.Reset()
	p.zip.Reset(&p.out)
	t := tar.NewWriter(p.zip)
	for i, f := range files {
		h := &tar.Header{Name: fmt.Sprintf("v%d/file%d", release, i), Mode: 0o644, Size: int64(len(f))}
		if err := t.WriteHeader(h); err != nil {
			return 0, err
		}
		if _, err := t.Write(f); err != nil {
			return 0, err
		}
	}
	return p.out.Len(), errors.Join(t.Close(), p.zip.Close())
}

func main() {
	flag.Parse()
	var files [][]byte
	for i := range 6 {
		files = append(files, bytes.Repeat(fmt.Appendf(nil, "line %d of the source\n", i), 200))
	}
	p := newPacker()
	pace(func(n int) error {
		if _, err := p.pack(n, files); err != nil {
			return err
		}
		if p.out.Len() == 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
}

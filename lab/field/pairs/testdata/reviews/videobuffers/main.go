// Videobuffers takes the frames of a film out of their container and writes those of
// one track.
package main

import (
	"bufio"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

// record writes a container with three tracks.
func record(name string, frames int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	payload := make([]byte, 700)
	for i := range frames {
		var head [8]byte
		binary.LittleEndian.PutUint32(head[:], uint32(i%3))
		binary.LittleEndian.PutUint32(head[4:], uint32(300+i%400))
		b.Write(head[:])
		b.Write(payload[:300+i%400])
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// extract copies the frames of a track and says how many there are.
func extract(in io.Reader, out io.Writer, track uint32, size int) (frames int, err error) {
	r, w := bufio.NewReaderSize(in, size), bufio.NewWriterSize(out, size)
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err == io.EOF {
			return frames, w.Flush()
		} else if err != nil {
			return frames, err
		}
		of, n := binary.LittleEndian.Uint32(head[:]), int(binary.LittleEndian.Uint32(head[4:]))
		for ; n > 0; n-- {
			b, err := r.ReadByte()
			if err != nil {
				return frames, err
			}
			if of == track {
				if err := w.WriteByte(b); err != nil {
					return frames, err
				}
			}
		}
		frames++
	}
}

func film(dir string, track uint32, size int) (int, error) {
	in, err := os.Open(filepath.Join(dir, "film.box"))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(filepath.Join(dir, fmt.Sprintf("track%d", track)))
	if err != nil {
		return 0, err
	}
	defer out.Close()
	return extract(in, out, track, size)
}

func main() {
	dir := flag.String("dir", ".", "where the film is")
	size := flag.Int("buffer", 64<<10, "size of the buffers")
	rounds := flag.Int("rounds", 20, "how often tracks are taken out")
	flag.Parse()
	if err := record(filepath.Join(*dir, "film.box"), 10000); err != nil {
		log.Fatal(err)
	}
	frames := 0
	for n := range *rounds {
		got, err := film(*dir, uint32(n%3), *size)
		if err != nil {
			log.Fatal(err)
		}
		frames += got
	}
	fmt.Printf("operations: %d\n", frames)
}

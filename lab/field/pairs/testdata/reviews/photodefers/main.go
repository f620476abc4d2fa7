// Photodefers makes an index of the photos in a folder from the first bytes of each.
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

type photo struct {
	Name          string
	Width, Height uint16
}

// shoot fills the folder.
func shoot(dir string, n int) error {
	for i := range n {
		head := binary.BigEndian.AppendUint16([]byte("PHOT"), uint16(1000+i%3000))
		head = binary.BigEndian.AppendUint16(head, uint16(800+i%2000))
		name := filepath.Join(dir, fmt.Sprintf("img%05d.raw", i))
		if err := os.WriteFile(name, append(head, make([]byte, 3000)...), 0o600); err != nil {
			return err
		}
	}
	return nil
}

func header(r io.Reader, name string) (p photo, err error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return p, err
	}
	return photo{name, binary.BigEndian.Uint16(head[4:]), binary.BigEndian.Uint16(head[6:])}, nil
}

func readOne(name string) (photo, error) {
	f, err := os.Open(name)
	if err != nil {
		return photo{}, err
	}
	defer f.Close()
	return header(bufio.NewReaderSize(f, 64<<10), filepath.Base(name))
}

func index(names []string) (all []photo, err error) {
	for _, name := range names {
		p, err := readOne(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func indexInOne(names []string) (all []photo, err error) {
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		p, err := header(bufio.NewReaderSize(f, 64<<10), filepath.Base(name))
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func main() {
	one := flag.Bool("one", false, "index in one function")
	photos := flag.Int("photos", 3000, "photos in the folder")
	rounds := flag.Int("rounds", 15, "how often the folder is indexed")
	dir := flag.String("dir", ".", "where the photos are made")
	flag.Parse()
	if err := shoot(*dir, *photos); err != nil {
		log.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(*dir, "*.raw"))
	if err != nil {
		log.Fatal(err)
	}
	read, wide := index, 0
	if *one {
		read = indexInOne
	}
	for range *rounds {
		all, err := read(names)
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range all {
			if p.Width > p.Height {
				wide++
			}
		}
	}
	fmt.Println("wide:", wide)
	fmt.Printf("operations: %d\n", *rounds*len(names))
}

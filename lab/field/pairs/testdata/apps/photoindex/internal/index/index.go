// Package index finds photos by their prints.
package index

import (
	"crypto/sha512"
	"errors"
	"sync"

	"photoindex/internal/album"
)

// A Print is what tells a photo from others.
type Print [sha512.Size]byte

// An Index has photos by prints.
type Index struct {
	mu    sync.Mutex
	names map[Print][]string
}

// Different is how many photos are different.
func (x *Index) Different() int { return len(x.names) }

func (x *Index) add(p Print, name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.names[p] = append(x.names[p], name)
}

// A Builder builds an index of an album.
type Builder struct {
	Album          *album.Album
	Readers        int
	PrintByReaders bool
}

type read struct {
	photo album.Photo
	print Print
}

// Build reads all photos.
func (b *Builder) Build() (*Index, error) {
	if b.Album.Len() == 0 {
		return nil, errors.New("the album is empty")
	}
	jobs, results := make(chan int), make(chan read, b.Readers)
	var readers sync.WaitGroup
	for range b.Readers {
		readers.Go(func() {
			for i := range jobs {
				results <- b.read(i)
			}
		})
	}
	go func() {
		for i := range b.Album.Len() {
			jobs <- i
		}
		close(jobs)
		readers.Wait()
		close(results)
	}()
	x := &Index{names: map[Print][]string{}}
	b.collect(x, results)
	return x, nil
}

func (b *Builder) read(i int) (r read) {
	r.photo = b.Album.Read(i)
	if b.PrintByReaders {
		r.print = sha512.Sum512(r.photo.Data)
	}
	return r
}

func (b *Builder) collect(x *Index, results <-chan read) {
	for r := range results {
		if !b.PrintByReaders {
			r.print = sha512.Sum512(r.photo.Data)
		}
		x.add(r.print, r.photo.Name)
	}
}

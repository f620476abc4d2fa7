// Thumbnailworkers makes small pictures of large ones, which a store delivers.
package main

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

type task struct {
	id   int
	done chan *image.Gray
}

// fetch gets a picture from the store.
func fetch(id int) *image.Gray {
	time.Sleep(8 * time.Millisecond)
	img := image.NewGray(image.Rect(0, 0, 128, 128))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * id)
	}
	return img
}

func shrink(img *image.Gray, by int) *image.Gray {
	b := img.Bounds()
	out := image.NewGray(image.Rect(0, 0, b.Dx()/by, b.Dy()/by))
	for y := range out.Bounds().Dy() {
		for x := range out.Bounds().Dx() {
			sum := 0
			for dy := range by {
				for dx := range by {
					sum += int(img.GrayAt(x*by+dx, y*by+dy).Y)
				}
			}
			out.SetGray(x, y, color.Gray{Y: uint8(sum / by / by)})
		}
	}
	return out
}

func worker(tasks <-chan task) {
	for t := range tasks {
		t.done <- shrink(fetch(t.id), 8)
	}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	workers := flag.Int("workers", 16, "how many pictures are worked on at once")
	flag.Parse()
	tasks := make(chan task)
	for range *workers {
		go worker(tasks)
	}
	http.HandleFunc("GET /thumbnails/{id}", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.Atoi(r.PathValue("id"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		t := task{id, make(chan *image.Gray, 1)}
		select {
		case tasks <- t:
		case <-r.Context().Done():
			return
		}
		img := <-t.done
		w.Header().Set("Content-Type", "image/png")
		if err := encode(w, img); err != nil {
			log.Print(err)
		}
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}

var encoder = png.Encoder{CompressionLevel: png.BestSpeed}

func encode(w io.Writer, img *image.Gray) error { return encoder.Encode(w, img) }

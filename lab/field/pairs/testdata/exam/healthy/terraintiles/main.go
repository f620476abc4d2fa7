// Terraintiles serves tiles of a map over HTTP from a cache of so many bytes, and draws those
// that are not in it.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"

	"golang.org/x/sync/singleflight"
)

const edge = 96 // of a tile, in pixels

var heights = func() (p color.Palette) {
	for i := range 32 {
		p = append(p, color.RGBA{uint8(i * 8), uint8(255 - i*6), uint8(i * 3), 255})
	}
	return p
}()

// A painter draws tiles; it is used by one goroutine at a time.
type painter struct {
	img *image.Paletted
	out bytes.Buffer
	enc png.Encoder
}

type buffers struct{ sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	buf, _ := b.Pool.Get().(*png.EncoderBuffer)
	return buf
}
func (b *buffers) Put(buf *png.EncoderBuffer) { b.Pool.Put(buf) }

var pngBuffers buffers

var painters = sync.Pool{New: func() any {
	return &painter{img: image.NewPaletted(image.Rect(0, 0, edge, edge), heights),
		enc: png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &pngBuffers}}
}}

func (p *painter) draw(x, y int) ([]byte, error) {
	for row := range edge {
		line := p.img.Pix[row*p.img.Stride:][:edge]
		for col := range line {
			u, v := (x*edge+col)/7, (y*edge+row)/5
			line[col] = uint8((u*u + v*v + u*v>>2) >> 6 & 31)
		}
	}
	p.out.Reset()
	if err := p.enc.Encode(&p.out, p.img); err != nil {
		return nil, err
	}
	return bytes.Clone(p.out.Bytes()), nil
}

type server struct {
	cache *cache
	calls singleflight.Group
}

func (s *server) tile(w http.ResponseWriter, r *http.Request) {
	at := r.PathValue("x") + "/" + r.PathValue("y")
	tile, ok := s.cache.get(at)
	if !ok {
		drawn, err, _ := s.calls.Do(at, func() (any, error) {
			x, errX := strconv.Atoi(r.PathValue("x"))
			y, errY := strconv.Atoi(r.PathValue("y"))
			if errX != nil || errY != nil {
				return nil, fmt.Errorf("no tile %s", at)
			}
			p := painters.Get().(*painter)
			defer painters.Put(p)
			tile, err := p.draw(x, y)
			if err == nil {
				s.cache.add(at, tile)
			}
			return tile, err
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		tile = drawn.([]byte)
	}
	h := w.Header()
	h.Set("Content-Type", "image/png")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("Content-Length", strconv.Itoa(len(tile)))
	_, _ = w.Write(tile)
}

func main() {
	flag.Parse()
	s := &server{cache: newCache(1 << 20)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tiles/{x}/{y}", s.tile)
	srv := httptest.NewServer(mux)
	defer srv.Close()
	const viewers = 8
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: viewers}}
	var wanted [viewers]*rand.Zipf
	for i := range wanted {
		wanted[i] = rand.NewZipf(rand.New(rand.NewPCG(uint64(i), 9)), 1.2, 8, 40_000)
	}
	pace(viewers, func(ctx context.Context, viewer, _ int) error {
		at := wanted[viewer].Uint64()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/tiles/%d/%d", srv.URL, at/200, at%200), nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	})
	log.Printf("%d tiles are kept", s.cache.len())
}

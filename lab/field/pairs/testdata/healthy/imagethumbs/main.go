// Imagethumbs makes thumbnails of photographs that arrive at a rate, with golang.org/x/image/draw.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/image/draw"
)

// photograph is a JPEG of 320 by 240.
func photograph(n int) ([]byte, error) {
	p := image.NewRGBA(image.Rect(0, 0, 320, 240))
	for y := range 240 {
		for x := range 320 {
			p.SetRGBA(x, y, color.RGBA{uint8(x + n), uint8(y * n), uint8(x * y / 200), 255})
		}
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, p, nil)
	return b.Bytes(), err
}

// thumbnail writes a photograph as a smaller JPEG into out; small is the picture it draws in.
func thumbnail(photo []byte, small *image.RGBA, out *bytes.Buffer) error {
	p, err := jpeg.Decode(bytes.NewReader(photo))
	if err != nil {
		return err
	}
	draw.ApproxBiLinear.Scale(small, small.Bounds(), p, p.Bounds(), draw.Src, nil)
	return jpeg.Encode(out, small, &jpeg.Options{Quality: 80})
}

func main() {
	rate := flag.Int("rate", 10, "photographs a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var photos [][]byte
	for n := range 10 {
		p, err := photograph(n)
		if err != nil {
			log.Fatal(err)
		}
		photos = append(photos, p)
	}
	small := image.NewRGBA(image.Rect(0, 0, 80, 60))
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	var out bytes.Buffer
	size := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("bytes: %d\noperations: %d\n", size, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		out.Reset()
		if err := thumbnail(photos[n%len(photos)], small, &out); err != nil {
			log.Fatal(err)
		}
		size += out.Len()
	}
}

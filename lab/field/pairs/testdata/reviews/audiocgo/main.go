// Audiocgo mixes the tracks of a song with a filter that is written in C.
package main

/*
static float low;

static float filter(float x) {
	low += 0.12f * (x - low);
	return low;
}

static void filter_all(float *x, int n) {
	for (int i = 0; i < n; i++)
		x[i] = filter(x[i]);
}
*/
import "C"

import (
	"flag"
	"fmt"
)

const block = 4096

// play makes a block of a track.
func play(track []C.float, pitch, at int) {
	for i := range track {
		track[i] = C.float((at+i)*pitch%200)/100 - 1
	}
}

func smoothEach(track []C.float) {
	for i, x := range track {
		track[i] = C.filter(x)
	}
}

func smooth(track []C.float) { C.filter_all(&track[0], C.int(len(track))) }

func mix(into, track []C.float) {
	for i, x := range track {
		into[i] += x / 4
	}
}

func main() {
	each := flag.Bool("each", false, "filter sample by sample")
	blocks := flag.Int("blocks", 2000, "how many blocks the song has")
	flag.Parse()
	loud, track := C.float(0), make([]C.float, block)
	for b := range *blocks {
		song := make([]C.float, block)
		for pitch := 1; pitch <= 4; pitch++ {
			play(track, pitch, b*block)
			if *each {
				smoothEach(track)
			} else {
				smooth(track)
			}
			mix(song, track)
		}
		loud = max(loud, song[b%block])
	}
	fmt.Println("loudest:", loud)
	fmt.Printf("operations: %d\n", *blocks*block)
}

module roaringsegments

go 1.26

require github.com/RoaringBitmap/roaring v1.9.4

require (
	github.com/bits-and-blooms/bitset v1.12.0 // indirect
	github.com/mschoch/smat v0.2.0 // indirect
)

module staticgzip

go 1.26

require github.com/CAFxX/httpcompression v0.0.8

require (
	github.com/andybalholm/brotli v1.0.4 // indirect
	github.com/klauspost/compress v1.14.1 // indirect
)

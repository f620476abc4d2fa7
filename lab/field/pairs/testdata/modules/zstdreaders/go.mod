module zstdreaders

go 1.26

require github.com/klauspost/compress v1.14.4

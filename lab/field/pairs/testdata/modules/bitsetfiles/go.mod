module bitsetfiles

go 1.26

require github.com/bits-and-blooms/bitset v1.4.0

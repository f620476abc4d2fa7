module doorstations

go 1.26

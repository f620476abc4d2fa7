module buoydepths

go 1.26

module todoshards

go 1.26

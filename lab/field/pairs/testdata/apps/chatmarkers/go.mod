module chatmarkers

go 1.26

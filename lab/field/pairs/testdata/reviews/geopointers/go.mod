module geopointers

go 1.26

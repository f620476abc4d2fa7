module censusmap

go 1.26

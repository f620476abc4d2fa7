module evchargers

go 1.26

module handbook

go 1.26

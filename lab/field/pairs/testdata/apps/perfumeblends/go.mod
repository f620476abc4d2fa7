module perfumeblends

go 1.26

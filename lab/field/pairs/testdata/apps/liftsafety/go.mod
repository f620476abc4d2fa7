module liftsafety

go 1.26

module tillreports

go 1.25

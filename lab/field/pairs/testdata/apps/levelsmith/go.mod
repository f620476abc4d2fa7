module levelsmith

go 1.26

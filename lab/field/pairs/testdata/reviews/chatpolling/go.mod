module chatpolling

go 1.26

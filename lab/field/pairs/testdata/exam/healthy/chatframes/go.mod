module chatframes

go 1.26

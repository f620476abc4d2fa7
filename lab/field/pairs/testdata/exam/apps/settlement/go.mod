module settlement

go 1.25

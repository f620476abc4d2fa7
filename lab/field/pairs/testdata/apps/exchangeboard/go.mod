module exchangeboard

go 1.26

module donations

go 1.24

module fraudscores

go 1.24

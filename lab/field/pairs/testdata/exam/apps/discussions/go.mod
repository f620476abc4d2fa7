module discussions

go 1.24

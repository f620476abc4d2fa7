module clubchatter

go 1.26

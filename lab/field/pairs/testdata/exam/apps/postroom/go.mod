module postroom

go 1.24

module patientnotes

go 1.26

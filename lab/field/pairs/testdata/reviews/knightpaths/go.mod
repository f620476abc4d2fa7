module knightpaths

go 1.26

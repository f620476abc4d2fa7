module heightmaps

go 1.24

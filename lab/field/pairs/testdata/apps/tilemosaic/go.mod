module tilemosaic

go 1.26

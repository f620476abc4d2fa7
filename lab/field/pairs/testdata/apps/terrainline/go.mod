module terrainline

go 1.26

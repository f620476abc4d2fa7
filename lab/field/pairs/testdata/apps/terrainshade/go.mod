module terrainshade

go 1.26

module maptiles

go 1.26

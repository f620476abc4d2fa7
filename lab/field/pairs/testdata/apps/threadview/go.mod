module threadview

go 1.26

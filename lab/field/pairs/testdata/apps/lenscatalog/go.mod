module lenscatalog

go 1.26

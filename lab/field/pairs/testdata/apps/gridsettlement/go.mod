module gridsettlement

go 1.26

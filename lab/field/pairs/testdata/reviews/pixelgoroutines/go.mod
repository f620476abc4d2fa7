module pixelgoroutines

go 1.26

module genealogies

go 1.26

module pumpstations

go 1.26

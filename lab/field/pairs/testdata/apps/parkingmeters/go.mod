module parkingmeters

go 1.26

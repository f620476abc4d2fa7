module tollbeacons

go 1.26

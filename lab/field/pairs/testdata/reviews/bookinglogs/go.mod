module bookinglogs

go 1.26

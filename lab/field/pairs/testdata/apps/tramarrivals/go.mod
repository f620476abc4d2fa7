module tramarrivals

go 1.26

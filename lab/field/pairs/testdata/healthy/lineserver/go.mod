module lineserver

go 1.26

module liveboard

go 1.26

module votecounters

go 1.26

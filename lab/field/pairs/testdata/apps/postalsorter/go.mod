module postalsorter

go 1.26

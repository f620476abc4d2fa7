module hotelsort

go 1.26

module rainrecords

go 1.26

module clubnotices

go 1.26

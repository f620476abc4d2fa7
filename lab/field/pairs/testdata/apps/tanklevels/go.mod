module tanklevels

go 1.26

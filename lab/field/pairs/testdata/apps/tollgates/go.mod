module tollgates

go 1.26

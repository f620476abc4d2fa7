module tollgantry

go 1.26

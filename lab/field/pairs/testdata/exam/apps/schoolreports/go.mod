module schoolreports

go 1.26

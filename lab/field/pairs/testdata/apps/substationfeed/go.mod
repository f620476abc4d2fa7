module substationfeed

go 1.26

module hamletfinder

go 1.26

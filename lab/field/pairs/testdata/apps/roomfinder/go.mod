module roomfinder

go 1.26

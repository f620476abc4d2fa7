module newsmerge

go 1.26

module mailmerge

go 1.26

module mailarchive

go 1.26

module coinarchive

go 1.26

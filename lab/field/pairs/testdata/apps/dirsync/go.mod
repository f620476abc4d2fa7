module dirsync

go 1.26

module wardscans

go 1.26

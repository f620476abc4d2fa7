module stampalbums

go 1.26

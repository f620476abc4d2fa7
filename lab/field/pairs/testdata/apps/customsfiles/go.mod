module customsfiles

go 1.26

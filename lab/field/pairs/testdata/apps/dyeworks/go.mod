module dyeworks

go 1.26

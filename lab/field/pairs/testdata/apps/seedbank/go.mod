module seedbank

go 1.26

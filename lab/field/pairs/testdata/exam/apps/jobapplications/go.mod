module jobapplications

go 1.23

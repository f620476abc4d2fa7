module plantnames

go 1.25

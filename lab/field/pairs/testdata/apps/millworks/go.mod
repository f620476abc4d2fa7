module millworks

go 1.26

module geoplaces

go 1.26

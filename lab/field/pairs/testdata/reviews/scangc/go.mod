module scangc

go 1.26

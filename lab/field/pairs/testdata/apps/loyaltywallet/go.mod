module loyaltywallet

go 1.26

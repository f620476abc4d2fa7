module lockerdispatch

go 1.26

module lockkeepers

go 1.26

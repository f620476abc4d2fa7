module gamegob

go 1.26

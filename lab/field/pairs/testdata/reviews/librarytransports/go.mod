module librarytransports

go 1.26

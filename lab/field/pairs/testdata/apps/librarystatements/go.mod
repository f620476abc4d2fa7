module librarystatements

go 1.26

module librarymerge

go 1.26

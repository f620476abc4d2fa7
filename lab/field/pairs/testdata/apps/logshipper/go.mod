module logshipper

go 1.26

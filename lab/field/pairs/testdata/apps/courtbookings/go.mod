module courtbookings

go 1.26

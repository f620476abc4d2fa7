module wholesaleprices

go 1.26

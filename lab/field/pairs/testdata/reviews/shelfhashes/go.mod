module shelfhashes

go 1.26

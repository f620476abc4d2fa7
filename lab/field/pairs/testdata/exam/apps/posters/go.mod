module posters

go 1.26

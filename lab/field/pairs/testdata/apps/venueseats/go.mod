module venueseats

go 1.26

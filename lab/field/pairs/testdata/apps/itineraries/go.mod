module itineraries

go 1.26

module flightzones

go 1.26

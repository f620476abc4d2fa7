module hotelrates

go 1.26

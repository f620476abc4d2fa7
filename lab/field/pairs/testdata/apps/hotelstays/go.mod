module hotelstays

go 1.26

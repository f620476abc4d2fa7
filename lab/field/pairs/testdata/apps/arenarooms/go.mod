module arenarooms

go 1.26

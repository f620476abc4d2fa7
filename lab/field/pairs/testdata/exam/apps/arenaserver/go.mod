module arenaserver

go 1.25

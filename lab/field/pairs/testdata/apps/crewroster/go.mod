module crewroster

go 1.26

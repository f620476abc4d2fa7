module fleetlake

go 1.26

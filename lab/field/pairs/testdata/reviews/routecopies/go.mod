module routecopies

go 1.26

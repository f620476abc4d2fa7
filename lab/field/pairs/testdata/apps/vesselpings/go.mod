module vesselpings

go 1.26

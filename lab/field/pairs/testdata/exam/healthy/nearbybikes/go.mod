module nearbybikes

go 1.25

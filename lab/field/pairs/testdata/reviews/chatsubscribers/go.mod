module chatsubscribers

go 1.26

module webhooksigner

go 1.26

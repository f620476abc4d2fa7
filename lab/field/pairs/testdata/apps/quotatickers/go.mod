module quotatickers

go 1.26

module photoindex

go 1.26

module photobooths

go 1.26

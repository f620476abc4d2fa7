module particlecopies

go 1.26

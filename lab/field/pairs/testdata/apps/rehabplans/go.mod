module rehabplans

go 1.26

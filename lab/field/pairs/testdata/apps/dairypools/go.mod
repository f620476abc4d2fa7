module dairypools

go 1.26

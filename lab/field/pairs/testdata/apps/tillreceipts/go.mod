module tillreceipts

go 1.26

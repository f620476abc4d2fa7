module ledgercsv

go 1.25

module ledgerjournal

go 1.26

module ledgermatch

go 1.26

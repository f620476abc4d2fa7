module ledgertunnel

go 1.22
